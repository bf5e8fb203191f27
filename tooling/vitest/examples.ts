// What a package's documentation shows, tried in the folder of a user who has installed it.
import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

interface Example {
  /** The export behind it, and its file. */
  name: string;
  code: string;
  /** Where it is written to be run. */
  path: string;
}

export interface ExampleOptions {
  /** Other packages that the examples use, beside the package's own dependencies. */
  packages?: Readonly<Record<string, URL>>;
}

/**
 * Tests that every `@example` in src and all TypeScript of the README compiles and runs, and that
 * every function and class of the package's entry points has an example. What imports vitest, or
 * calls a suite, runs as tests of its own. The package has to be built.
 *
 * @param root the package's folder
 */
export function testExamples(root: URL, { packages = {} }: ExampleOptions = {}): void {
  const source = fileURLToPath(root);
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as Manifest;
  const folder = userFolder(source, { [manifest.name]: root, ...packages });
  const examples = [...sourceExamples(source), ...readmeExamples(source)].map((example) => {
    const path = join(folder, `${example.name.replaceAll(/\W+/g, "-")}.ts`);
    writeFileSync(path, example.code);
    return { ...example, path };
  });
  const isSuite = ({ code }: Example) => /from "vitest"|^test[A-Z]\w*\(/m.test(code);

  // They name files without a folder.
  const before = process.cwd();
  beforeAll(() => process.chdir(folder));
  afterAll(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  describe("examples", () => {
    test("compile", () => {
      expect(compile(source, folder)).toBe("");
    });

    test.each(examples.filter((example) => !isSuite(example)))("$name runs", async ({ path }) => {
      await import(path);
    });

    describe.each(examples.filter(isSuite))("$name", async ({ path }) => {
      await import(path);
    });

    test.each(entriesOf(manifest))("every function of %s has one", async (_, file) => {
      const entry = (await import(join(source, file))) as Record<string, unknown>;
      const functions = Object.keys(entry).filter((name) => typeof entry[name] === "function");
      const documented = new Set(examples.map(({ name }) => name.split(" ")[0]));
      expect(functions).not.toEqual([]);
      expect(functions.filter((name) => !documented.has(name))).toEqual([]);
    });
  });
}

interface Manifest {
  name: string;
  exports: Record<string, string | { default: string }>;
}

/** Entry points that are modules, by what follows the package's name. */
function entriesOf({ exports }: Manifest): [entry: string, file: string][] {
  return Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === "object" ? [[entry, target.default] as [string, string]] : [],
  );
}

/** A new folder with the package's dependencies and some packages more in its node_modules. */
function userFolder(source: string, packages: Readonly<Record<string, URL>>): string {
  const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
  const link = (name: string, target: string) => {
    const path = join(folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  };
  const modules = join(source, "node_modules");
  for (const name of readdirSync(modules).filter((found) => !found.startsWith("."))) {
    const scoped = name.startsWith("@") ? readdirSync(join(modules, name)) : [""];
    for (const part of scoped) link(join(name, part), join(modules, name, part));
  }
  for (const [name, root] of Object.entries(packages)) link(name, fileURLToPath(root));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  return folder;
}

/** Every `@example`, named by the export behind it. */
function sourceExamples(source: string): Omit<Example, "path">[] {
  const pattern = /@example\n((?: \*.*\n)*?) \*\/\n(?:export )?(?:async )?(?:abstract )?\w+ (\w+)/g;
  const files = readdirSync(join(source, "src"), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => {
      const text = readFileSync(join(source, "src", file), "utf8");
      return [...text.matchAll(pattern)].map(([, lines, name]) => ({
        name: `${name} (${file})`,
        code: lines!.replaceAll(/^ \* ?/gm, ""),
      }));
    });
}

function readmeExamples(source: string): Omit<Example, "path">[] {
  const text = readFileSync(join(source, "README.md"), "utf8");
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code], i) => ({
    name: `README ${i + 1}`,
    code: code!,
  }));
}

/** What the compiler has to say of the folder's modules, as a strict user has it set. */
function compile(source: string, folder: string): string {
  const settings = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022"];
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const tsc = join(source, "node_modules/typescript/bin/tsc");
  const args = [tsc, ...settings, "--types", "node", "--pretty", "false", ...files];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  return stdout;
}
