/** From an extension to the functions of the contract. The build makes the entry that calls this; nothing else needs it. */

import { installConsole, type Write } from "./console.ts";
import { install, settled } from "./promise.ts";
import type { Extension, Json, Point, Site } from "./types.ts";

interface Verdict {
  tag: string;
  val?: string;
}

interface AnyInterceptor {
  name: string;
  mode: string;
  tools?: string[];
  agents?: string[];
  run: (payload: Json, context: { at: Site; settings: Json }) => unknown;
}

const POINTS: Point[] = ["tool.before", "tool.after", "context.build", "memory.recall", "provider.before"];

/** What a thrown value says. */
function message(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  if (typeof error === "string") return error;
  try {
    return JSON.stringify(error) ?? String(error);
  } catch {
    return String(error);
  }
}

/** Errors cross to the host as strings, whatever was thrown. */
function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw message(error);
  }
}

export function component(extension: Extension, write: Write): Record<string, unknown> {
  install();
  installConsole(write);

  function at(point: Point): AnyInterceptor[] {
    const found = extension.interceptors?.[point];
    return (found === undefined ? [] : Array.isArray(found) ? found : [found]) as AnyInterceptor[];
  }

  function register(text: string): string {
    return guarded(() => {
      const settings: Json = JSON.parse(text);
      extension.check?.(settings);
      const interceptors = POINTS.flatMap((point) =>
        at(point).map(({ name, mode, tools = [], agents = [] }) => ({ name, point, mode, tools, agents })),
      );
      const rules = typeof extension.rules === "function" ? extension.rules(settings) : (extension.rules ?? []);
      const watchers = (extension.watchers ?? []).map(({ name, points = [], tools = [], agents = [] }) => ({ name, points, tools, agents }));
      return JSON.stringify({ interceptors, rules, watchers });
    });
  }

  function ask(point: Point, name: string, settings: string, site: Json, payload: Json): Verdict {
    return guarded(() => {
      const found = at(point).find((each) => each.name === name);
      if (found === undefined) throw new Error(`nothing is registered under the name ${name} at ${point}`);
      const where: Site = { ...site, callId: site.callId ?? null };
      return verdict(settled(found.run(payload, { at: where, settings: JSON.parse(settings) })));
    });
  }

  const read = (text: string): Json => JSON.parse(text);
  return {
    register,
    toolBefore: (name: string, settings: string, site: Json, { tool, input }: Json) =>
      ask("tool.before", name, settings, site, { tool, input: read(input) }),
    toolAfter: (name: string, settings: string, site: Json, { tool, input, outcome }: Json) =>
      ask("tool.after", name, settings, site, { tool, input: read(input), outcome: read(outcome) }),
    contextBuild: (name: string, settings: string, site: Json, payload: Json) =>
      ask("context.build", name, settings, site, {
        sections: read(payload.sections),
        recalled: read(payload.recalled),
        messages: read(payload.messages),
        ...(payload.budgetTokens === undefined || payload.budgetTokens === null ? {} : { budgetTokens: Number(payload.budgetTokens) }),
      }),
    memoryRecall: (name: string, settings: string, site: Json, { query, entries }: Json) =>
      ask("memory.recall", name, settings, site, { query, entries: read(entries) }),
    providerBefore: (name: string, settings: string, site: Json, { model, options }: Json) =>
      ask("provider.before", name, settings, site, { model, options: read(options) }),
    watch(name: string, settings: string, event: string): void {
      const found = extension.watchers?.find((each) => each.name === name);
      try {
        if (found !== undefined) settled(found.run(read(event), { settings: read(settings) }));
      } catch (error) {
        write("error", `watcher ${name}: ${message(error)}`);
      }
    },
  };
}

function verdict(answer: unknown): Verdict {
  if (answer === null || answer === undefined) return { tag: "proceed" };
  if (typeof answer !== "object") throw new Error(`an answer is null or an object, not ${typeof answer}`);
  const { deny, rewrite, handled, edits } = answer as Record<string, Json>;
  if (deny !== undefined) return { tag: "deny", val: String(deny) };
  if (handled !== undefined) return { tag: "handled", val: JSON.stringify(handled) };
  if (edits !== undefined) return { tag: "rewrite", val: JSON.stringify({ edits }) };
  if (rewrite !== undefined) return { tag: "rewrite", val: JSON.stringify(rewrite) };
  throw new Error("an answer has deny, rewrite, handled or edits");
}
