// What esbuild makes of a program that uses the package: bundlers have to leave it alone, and one
// that does not gives a program which says so.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Installed, install, type Output, runFile } from "./installed.js";
import { addonOf } from "./planted-addons.js";

let installed: Installed;
beforeAll(() => {
  installed = install({ addon: true });
  writeFileSync(join(installed.folder, "program.ts"), program);
});
afterAll(() => installed.remove());

const program = `
import { ones } from "@warpwright/runtime";
const use = async () => console.log(await ones([2]).tolist());
use().catch(({ code, message }) => console.log(code, message));`;

/** Bundles the program into a folder beside node_modules, and runs it. */
async function bundled(options: BuildOptions, env: Record<string, string> = {}): Promise<Output> {
  const folder = join(installed.folder, "bundle");
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, options.format === "cjs" ? "program.cjs" : "program.mjs");
  const { errors, warnings } = await build({
    absWorkingDir: installed.folder,
    entryPoints: ["program.ts"],
    bundle: true,
    platform: "node",
    logLevel: "silent",
    outfile,
    ...options,
  });
  // A bundle of format cjs has no import.meta, which esbuild warns of.
  const unexpected = warnings.filter(({ id }) => id !== "empty-import-meta");
  expect({ errors, unexpected }).toEqual({ errors: [], unexpected: [] });
  return runFile(outfile, env);
}

describe.each(["esm", "cjs"] as const)("[ND-14] a bundle of format %s", (format) => {
  test("with the package external works", async () => {
    expect(await bundled({ format, packages: "external" })).toMatchObject({ stdout: "[ 1, 1 ]\n" });
    const external = ["@warpwright/*"];
    expect(await bundled({ format, external })).toMatchObject({ stdout: "[ 1, 1 ]\n" });
  });

  test("with the package inside says what to do", async () => {
    const { stdout, stderr, status } = await bundled({ format });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toMatch(/^ERR_LOAD runtime: cannot load the addon of @warpwright\/runtime for /);
    expect(stdout).toContain(
      "and this code is not in the package's own folder; where it was bundled, keep " +
        "@warpwright/runtime external, or set WARPWRIGHT_RUNTIME_NATIVE_PATH to the addon's path",
    );
  });

  test("with the package inside works with the addon that the variable names", async () => {
    const env = { WARPWRIGHT_RUNTIME_NATIVE_PATH: addonOf(installed) };
    expect(await bundled({ format }, env)).toMatchObject({ stdout: "[ 1, 1 ]\n", stderr: "" });
  });
});

test("[ND-25] a bundle has nothing from outside but Node's own modules", async () => {
  const { metafile } = await build({
    absWorkingDir: installed.folder,
    entryPoints: ["program.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    metafile: true,
    write: false,
  });
  const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports);
  const outside = imported.filter(({ external }) => external).map(({ path }) => path);
  expect(outside).not.toEqual([]);
  expect(outside.filter((path) => !path.startsWith("node:"))).toEqual([]);
});
