#!/usr/bin/env node
// orrery-ext-build ENTRY -o FILE: check the types, bundle, and make a component of it.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const sdk = dirname(dirname(fileURLToPath(import.meta.url)));
const require = createRequire(import.meta.url);

class Failure extends Error {}

function fail(text) {
  throw new Failure(text);
}

function run(command, parameters, what) {
  const done = spawnSync(process.execPath, [command, ...parameters], { encoding: "utf8" });
  if (done.status !== 0) fail(`${what}\n${done.stdout}${done.stderr}`.trimEnd());
}

async function main() {
  const [entry, flag, output] = process.argv.slice(2);
  if (entry === undefined || flag !== "-o" || output === undefined) fail("usage: orrery-ext-build ENTRY -o FILE");
  if (!existsSync(entry)) fail(`${entry}: there is no such file`);
  const folder = mkdtempSync(join(dirname(resolve(output)), ".orrery-"));
  try {
    if (existsSync("tsconfig.json")) {
      run(join(dirname(require.resolve("typescript/package.json")), "bin", "tsc"), ["--noEmit", "-p", "."], `${entry}: the types do not hold`);
    }
    const wrapper = join(folder, "entry.ts");
    writeFileSync(
      wrapper,
      `import { write } from "orrery:interceptors/log@1.0.0";
  import { component } from ${JSON.stringify(join(sdk, "src", "component.ts"))};
  import user from ${JSON.stringify(resolve(entry))};
  export const extension = component(user, write);
  `,
    );
    const { build } = await import("esbuild");
    const bundle = join(folder, "bundle.js");
    try {
      await build({
        entryPoints: [wrapper],
        outfile: bundle,
        bundle: true,
        format: "esm",
        // Async functions become generators over the SDK's own promises; see src/promise.ts.
        target: "es2016",
        alias: { "@orrery/ext": join(sdk, "src", "index.ts") },
        external: ["orrery:*"],
        logLevel: "silent",
      });
    } catch (error) {
      fail(`${entry}: does not bundle\n${error.message}`);
    }
    const made = join(folder, "component.wasm");
    const qjs = require.resolve("componentize-qjs/package.json");
    const bin = require(qjs).bin;
    run(
      join(dirname(qjs), typeof bin === "string" ? bin : Object.values(bin)[0]),
      ["-w", join(sdk, "wit"), "-j", bundle, "-n", "orrery-extension", "--stub-wasi", "--sync", "-m", "--opt-size", "-o", made],
      `${entry}: no component can be made`,
    );
    renameSync(made, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  process.stderr.write(`error: ${error.message}\n`);
  process.exitCode = 1;
}
