/** `console` in a component: lines for the host's log. */

export type Level = "debug" | "info" | "warn" | "error";
export type Write = (level: Level, message: string) => void;

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

export function installConsole(write: Write): void {
  const to =
    (level: Level) =>
    (...values: unknown[]): void =>
      write(level, values.map(shown).join(" "));
  (globalThis as { console?: unknown }).console = {
    debug: to("debug"),
    log: to("info"),
    info: to("info"),
    warn: to("warn"),
    error: to("error"),
    trace: to("debug"),
  };
}
