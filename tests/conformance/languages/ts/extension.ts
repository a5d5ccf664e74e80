import { defineExtension } from "@orrery/ext";

const wait = (): Promise<void> => new Promise((resolve) => resolve());

export default defineExtension({
  check: (settings) => {
    if (settings.wrong !== undefined) throw new Error("the settings are wrong");
  },
  interceptors: {
    "tool.before": [
      { name: "proceed", mode: "gate", tools: ["proceed"], run: () => null },
      { name: "deny", mode: "gate", tools: ["deny"], run: () => ({ deny: "because é漢🚀" }) },
      { name: "settings", mode: "gate", tools: ["settings"], run: (_, { settings }) => ({ deny: settings.word }) },
      {
        name: "error",
        mode: "gate",
        tools: ["error"],
        run: () => {
          throw new Error("it failed");
        },
      },
      { name: "log", mode: "gate", tools: ["log"], run: () => console.warn("a line") },
      { name: "set", mode: "rewrite", tools: ["set"], run: ({ input }) => ({ rewrite: { input: { ...input, x: 1 } } }) },
      { name: "same", mode: "rewrite", tools: ["same"], run: ({ tool, input }) => ({ rewrite: { tool, input } }) },
      { name: "handle", mode: "rewrite", tools: ["handle"], run: () => ({ handled: { t: "ok", value: { canned: true } } }) },
      {
        name: "quiet",
        mode: "rewrite-only",
        tools: ["quiet"],
        run: () => {
          throw "it failed";
        },
      },
      {
        name: "async",
        mode: "gate",
        tools: ["async"],
        run: async ({ tool }, { at }) => {
          await wait();
          const [name] = await Promise.all([tool, wait()]);
          return { deny: `${name} at ${at.session}/${at.turn}/${at.pass}/${at.callId ?? ""}` };
        },
      },
    ],
    "tool.after": [
      { name: "after", mode: "gate", tools: ["after"], run: () => ({ deny: "withheld" }) },
      {
        name: "outcome",
        mode: "rewrite",
        tools: ["outcome"],
        run: ({ tool, input, outcome }) => ({ rewrite: { tool, input, outcome: { ...outcome, t: "ok", value: "changed" } } }),
      },
    ],
    "context.build": {
      name: "context",
      mode: "rewrite",
      run: ({ sections }) => ({
        edits: [
          { t: "replace-section", id: sections[0]?.id ?? "", text: "new" },
          { t: "add-section", id: "added", text: "more" },
        ],
      }),
    },
    "memory.recall": {
      name: "recall",
      mode: "rewrite",
      run: ({ query, entries }) => ({ rewrite: { query, entries: [...entries].reverse() } }),
    },
    "provider.before": {
      name: "options",
      mode: "rewrite",
      run: ({ model, options }) => ({ rewrite: { model, options: { ...options, temperature: 0 } } }),
    },
  },
  rules: [
    { t: "refuse", tools: ["ruled"], reason: "by rule" },
    { t: "default", tool: "filled", pointer: "/timeout", value: 5 },
  ],
  watchers: [
    {
      name: "watch",
      points: ["tool.before"],
      tools: ["watched"],
      run: ({ decision }) => console.info(`saw ${decision.decision}`),
    },
  ],
});

declare const console: { warn(line: string): void; info(line: string): void };
