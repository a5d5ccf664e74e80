import { defineExtension } from "@orrery/ext";

export default defineExtension({
  interceptors: {
    "tool.before": {
      name: "no-force-push",
      mode: "gate",                 // "gate" allows or denies; "rewrite" may change the payload
      tools: ["builtin.bash"],      // the host asks only for these calls; none: every tool
      agents: ["main"],             // optional: `main`, or an agent persona glob
      run: ({ input }) => (/push .*--force/.test(input.command) ? { deny: "push a new branch instead" } : null),
    },
  },
});
