import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { compile, install } from "./installed.js";

const installed = install({ addon: false });
afterAll(() => installed.remove());

for (const name of ["consumer.ts", "consumer-using.ts"]) {
  const fixture = fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
  cpSync(fixture, join(installed.folder, name.replace(".ts", ".mts")));
}

const strict = [
  "--noEmit",
  "--strict",
  "--exactOptionalPropertyTypes",
  "--noUncheckedIndexedAccess",
  "--skipLibCheck",
  "false",
  "--module",
  "nodenext",
  "--target",
  "es2022",
  "--types",
  "",
];

describe("types compile for a strict consumer without skipLibCheck", () => {
  test.each(["es2022", "es2022,dom", "es2022,esnext.disposable", "esnext"])("lib %s", (lib) => {
    expect(compile([...strict, "--lib", lib, "consumer.mts"], installed.folder)).toBe("");
  });

  test("with using and Float16Array", () => {
    const args = [...strict, "--lib", "esnext", "consumer-using.mts"];
    expect(compile(args, installed.folder)).toBe("");
  });
});
