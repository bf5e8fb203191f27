// The templates and the packages that there are say the same where a formula has no say: whoever
// changes one changes the others. What may differ is listed here, and nothing else may.
import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { addonName, nativePackages, readJson, repoRoot } from "../../scripts/lib.mjs";
import { kinds, packageFiles } from "../templates.mjs";

/**
 * Native packages that are kernels: the runtime has no peers. What has no README yet is under way,
 * and CI refuses to pack it.
 */
const kernels = nativePackages()
  .filter(({ manifest }) => manifest.peerDependencies !== undefined)
  .filter(({ folder }) => fs.existsSync(path.join(repoRoot, folder, "README.md")))
  .map(({ folder, manifest }) => ({ name: addonName(manifest), folder, manifest }));

const filesOf = (name: string): Map<string, string> => packageFiles(name, "row-wise");

function read(folder: string, file: string): string {
  return fs.readFileSync(path.join(repoRoot, folder, file), "utf8");
}

/** Text that may differ is made the same. */
function neutral(file: string, text: string): string {
  switch (file) {
    // More sources than one, of either kind.
    case "CMakeLists.txt":
      return text.replaceAll(/csrc\/[\w./]+(\s+csrc\/[\w./]+)*/g, "csrc/…");
    // Which suites the emulator runs, and which of them look at values alone.
    case "vitest.config.ts":
      return text.replace(/ {2}values: .*\n/, "").replaceAll(/"[\w-]+",?\s*(?=["\]])/g, "");
    // The types of the call are the kernel's own.
    case "src/native.ts":
      return text.slice(text.indexOf("export const native"));
    default:
      return text;
  }
}

/** A manifest without what differs: its version, and what it says of itself. */
function shape({ version, description, keywords, ...manifest }: Manifest): object {
  return manifest;
}

interface Manifest {
  version: string;
  description: string;
  /** The template's, and the package's own. */
  keywords: string[];
}

const verbatim = [
  "CMakeLists.txt",
  "tsconfig.json",
  "tsconfig.build.json",
  "tsconfig.bench.json",
  "vitest.config.ts",
  "src/native.ts",
  "test/examples.test.ts",
];

describe.each(kernels)("packages/$name and the templates", ({ name, folder, manifest }) => {
  test("are described alike in package.json", () => {
    const template = JSON.parse(filesOf(name).get("package.json")!) as Manifest;
    expect(shape(manifest)).toEqual(shape(template));
    expect(manifest.keywords).toEqual(expect.arrayContaining(template.keywords));
  });

  test.each(verbatim)("agree in %s", (file) => {
    expect(neutral(file, read(folder, file))).toBe(neutral(file, filesOf(name).get(file)!));
  });

  // Of the tests, those by which scripts and CONTRIBUTING know a package; the others are its own.
  test("have the same files beside those of the formula", () => {
    const own = /^(test\/(?!reference|sanitized|examples|mutations)|csrc\/(?!binding))/;
    const wanted = [...filesOf(name).keys()].filter((file) => !own.test(file));
    const snake = name.replaceAll("-", "_");
    const sources = [`${snake}.h`, `${snake}.cu`, `${snake}_cpu.cc`].map((file) => `csrc/${file}`);
    const missing = [...wanted, ...sources].filter(
      (file) => !fs.existsSync(path.join(repoRoot, folder, file)),
    );
    expect(missing).toEqual([]);
  });

  test("the package has a row in the README's table", () => {
    expect(read("", "README.md")).toContain(`| [\`@warpwright/${name}\`](packages/${name}) |`);
  });
});

describe.each(kinds)("the %s templates", (kind) => {
  const files = packageFiles("soft-cap", kind) as Map<string, string>;

  test("name a suite for each mutation, and text that is in its file once", () => {
    const mutations = JSON.parse(files.get("test/mutations.json")!) as Mutation[];
    expect(mutations.length).toBeGreaterThanOrEqual(3);
    for (const { file, from, suites } of mutations) {
      const own = files.get(file.replace("packages/soft-cap/", ""));
      expect((own ?? read("", file)).split(from).length, file).toBe(2);
      for (const suite of suites) expect(files.has(`test/${suite}.test.ts`)).toBe(true);
    }
  });

  test("have a README of at most 80 lines", () => {
    expect(files.get("README.md")!.split("\n").length - 1).toBeLessThanOrEqual(80);
  });

  test("have the dependencies of the workspace's catalog", () => {
    const { devDependencies } = JSON.parse(files.get("package.json")!);
    const catalog = fs.readFileSync(path.join(repoRoot, "pnpm-workspace.yaml"), "utf8");
    for (const [name, range] of Object.entries(devDependencies)) {
      if (range === "catalog:") expect(catalog).toContain(`${name}`);
      else expect(range).toBe("workspace:*");
    }
  });
});

interface Mutation {
  file: string;
  from: string;
  suites: readonly string[];
}

test("rmsnorm is among the kernels", () => {
  expect(kernels.map(({ name }) => name)).toContain("rmsnorm");
  expect(readJson(path.join(repoRoot, "package.json")).scripts["new-kernel"]).toBeDefined();
});
