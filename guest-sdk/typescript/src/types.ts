/** Any JSON value. Numbers that are not touched go on exactly as they came, beyond 2^53 too. */
// deno-lint-ignore no-explicit-any
export type Json = any;

/** Where a call happens. The same at every point of one call. */
export interface Site {
  readonly session: string;
  readonly turn: number;
  readonly pass: number;
  /** `main`, or the name of a persona. */
  readonly agent: string;
  /** The model's id of the call, at `tool.before` and `tool.after`. */
  readonly callId: string | null;
}

/** What came of a tool call. Members that are not named here go on as they are. */
export type Outcome =
  | { t: "ok"; value: Json }
  | { t: "error"; message: string }
  | { t: "denied"; reason: string; by: Json }
  | { t: "truncated"; value?: Json; omitted?: number }
  | { t: "cancelled" };

export interface Section {
  id: string;
  text: string;
}

export interface Entry {
  id: string | number;
  text: string;
  score?: number;
  meta?: Record<string, Json>;
}

export interface Message {
  role: string;
  content?: Json;
  [member: string]: Json;
}

/** The payload of each point. */
export interface Payloads {
  "tool.before": { tool: string; input: Json };
  "tool.after": { tool: string; input: Json; outcome: Outcome };
  "context.build": { sections: Section[]; recalled: Entry[]; messages: Message[]; budgetTokens?: number };
  "memory.recall": { query: string; entries: Entry[] };
  "provider.before": { model: string; options: Record<string, Json> };
}

/** One of the five points. */
export type Point = keyof Payloads;

/** An edit of the context, at `context.build`. */
export type Edit =
  | { t: "add-section"; id: string; text: string; before?: string }
  | { t: "replace-section"; id: string; text: string }
  | { t: "drop-section"; id: string }
  | { t: "drop-recalled"; id: string | number }
  | { t: "replace-message"; index: number; content: Json }
  | { t: "drop-message"; index: number };

/** Refused. The reason is shown to the model and to the user. */
export interface Deny {
  deny: string;
}

/** What a rewrite may answer at each point, besides `null` and a deny. */
export interface Rewrites {
  "tool.before": { rewrite: { tool?: string; input: Json } } | { handled: Outcome };
  "tool.after": { rewrite: { tool?: string; input?: Json; outcome: Outcome } };
  "context.build": { edits: Edit[] };
  "memory.recall": { rewrite: { query?: string; entries: Pick<Entry, "id">[] } };
  "provider.before": { rewrite: { model?: string; options: Record<string, Json> } };
}

type MayDeny<P extends Point> = P extends "context.build" ? never : Deny;
type ChangesOnly<P extends Point> = Exclude<Rewrites[P], { handled: Outcome }>;

/** What may be answered at a point in a mode. `null` and nothing at all are no objection and no change. */
export type Answer<P extends Point, M extends Mode> = M extends "gate"
  ? MayDeny<P> | null | undefined | void
  : M extends "rewrite"
    ? Rewrites[P] | MayDeny<P> | null | undefined | void
    : ChangesOnly<P> | null | undefined | void;

export type Mode = "gate" | "rewrite" | "rewrite-only";

/** What a handler is told besides the payload. */
export interface Context {
  readonly at: Site;
  /** The manifest's settings, overridden by the user's. */
  readonly settings: Record<string, Json>;
}

/** One interceptor. */
export interface InterceptorOf<P extends Point, M extends Mode> {
  name: string;
  mode: M;
  /** The host asks only for these tools; none: every tool. `*` is any run of characters. */
  tools?: string[];
  /** `main`, or persona names with `*`; none: every agent. */
  agents?: string[];
  run: (payload: Payloads[P], context: Context) => Answer<P, M> | Promise<Answer<P, M>>;
}

/** An interceptor in any mode that the point has. */
export type Interceptor<P extends Point> =
  | (P extends "context.build" ? never : InterceptorOf<P, "gate">)
  | InterceptorOf<P, "rewrite">
  | InterceptorOf<P, "rewrite-only">;

/** What the host applies with no call at all. */
export type Rule =
  | { t: "refuse"; tools: string[]; reason: string }
  | { t: "default"; tool: string; pointer: string; value: Json };

/** A reader of what is asked and decided. It can only log. */
export interface Watcher {
  name: string;
  points?: Point[];
  tools?: string[];
  agents?: string[];
  run: (event: { v: 1; site: Json; payload: Json; decision: Json }, context: Pick<Context, "settings">) => void | Promise<void>;
}

/** An extension. */
export interface Extension {
  interceptors?: { [P in Point]?: Interceptor<P> | Interceptor<P>[] };
  rules?: Rule[] | ((settings: Record<string, Json>) => Rule[]);
  watchers?: Watcher[];
  /** Look at the settings when the extension is loaded; throw what is wrong with them. */
  check?: (settings: Record<string, Json>) => void;
}
