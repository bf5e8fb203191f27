import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Example {
  name: string;
  code: string;
}

/** Every `@example`, named by the export behind it. */
function examplesOf(file: string): Example[] {
  const text = readFileSync(join(source, file), "utf8");
  const pattern = /@example\n((?: \*.*\n)*?) \*\/\n(?:export )?(?:async )?(?:abstract )?\w+ (\w+)/g;
  return [...text.matchAll(pattern)].map(([, lines, name]) => ({
    name: `${name} (${file})`,
    code: lines!.replaceAll(/^ \* ?/gm, ""),
  }));
}

/** The README's code. */
function readmeExamples(): Example[] {
  const text = readFileSync(join(source, "../README.md"), "utf8");
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code], i) => ({
    name: `README ${i + 1}`,
    code: code!,
  }));
}

const files = readdirSync(source, { recursive: true, encoding: "utf8" });
const modules = files.filter((file) => file.endsWith(".ts"));
const examples = [...modules.flatMap(examplesOf), ...readmeExamples()];

/** Functions and classes that the entry points export. */
function exportsOf(entry: string): string[] {
  const text = readFileSync(join(source, entry), "utf8");
  const named = [...text.matchAll(/export \{([^}]*)\}/g)].flatMap(([, names]) => names!.split(","));
  return named.map((name) => name.trim()).filter((name) => /^\w+$/.test(name));
}

describe("examples", () => {
  test.each(examples)("$name runs", async ({ name, code }) => {
    const path = join(folder, `${name.replaceAll(/\W/g, "-")}.ts`);
    writeFileSync(path, code.replaceAll('"model.safetensors', `"${folder}/model.safetensors`));
    await import(path);
  });

  test.each(["index.ts", "kernel/index.ts"])("every function of %s has one", (entry) => {
    const documented = new Set(examples.map(({ name }) => name.split(" ")[0]));
    expect(exportsOf(entry).length).toBeGreaterThan(10);
    expect(exportsOf(entry).filter((name) => !documented.has(name))).toEqual([]);
  });
});
