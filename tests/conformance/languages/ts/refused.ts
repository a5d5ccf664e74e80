/** Answers that a point or a mode does not allow: each must fail to compile. */
import { defineExtension } from "@orrery/ext";

defineExtension({
  interceptors: {
    // @ts-expect-error a gate does not rewrite
    "tool.before": { name: "a", mode: "gate", run: ({ input }) => ({ rewrite: { input } }) },
    // @ts-expect-error only a call at tool.before can be handled
    "tool.after": { name: "b", mode: "rewrite", run: () => ({ handled: { t: "cancelled" } }) },
    // @ts-expect-error nothing can be denied at context.build
    "context.build": { name: "c", mode: "rewrite", run: () => ({ deny: "no" }) },
    // @ts-expect-error a rewrite-only does not deny
    "memory.recall": { name: "d", mode: "rewrite-only", run: () => ({ deny: "no" }) },
    // @ts-expect-error there are no gates at context.build, and no such modes
    "provider.before": { name: "e", mode: "maybe", run: () => null },
  },
});
