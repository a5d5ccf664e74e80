import type { Extension } from "./types.ts";

export type * from "./types.ts";

/** Say what an extension does: `export default defineExtension({…})`. */
export function defineExtension(extension: Extension): Extension {
  return extension;
}
