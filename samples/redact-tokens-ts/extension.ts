import { defineExtension } from "@orrery/ext";

export default defineExtension({
  interceptors: {
    "tool.after": {
      name: "redact-tokens",
      mode: "rewrite",
      tools: ["builtin.bash"],
      run: ({ tool, input, outcome }) => {
        if (outcome.t !== "ok" || typeof outcome.value !== "string") return null;
        const value = outcome.value.replace(/ghp_[A-Za-z0-9]+/g, "[redacted]");
        return value === outcome.value ? null : { rewrite: { tool, input, outcome: { ...outcome, value } } };
      },
    },
  },
});
