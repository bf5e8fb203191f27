import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { planKernel } from "../plan.mjs";
import { kinds } from "../templates.mjs";

const main = fileURLToPath(new URL("../main.mjs", import.meta.url));

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright new kernel "));
  write("pnpm-workspace.yaml", "packages:\n  - packages/*\n  - tooling/*\n");
  write("README.md", "# Kernels\n\n| [`@warpwright/rmsnorm`](packages/rmsnorm) | a |\n\nThey\n");
  write("packages/rmsnorm/package.json", '{ "name": "@warpwright/rmsnorm" }');
  write("tooling/scripts/package.json", '{ "name": "@warpwright/scripts" }');
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  fs.writeFileSync(path.join(root, file), text);
}

/** Everything in the workspace, by path. */
function contents(): Record<string, string> {
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((file) => [file, fs.readFileSync(file, "utf8")]));
}

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, "--root", root, ...args], { encoding: "utf8" });
}

describe("npm run new-kernel", () => {
  test.each(kinds)("%s: writes the package, its row and its changeset", (kind) => {
    const { status, stderr } = run("soft-cap", "--kind", kind);
    expect(stderr).toBe("");
    expect(status).toBe(0);
    const written = contents();
    const read = (file: string) => written[path.join(root, file)];
    expect(read("packages/soft-cap/csrc/soft_cap.cu")).toContain("cudaError_t soft_cap_fwd(");
    expect(read("packages/soft-cap/src/index.ts")).toContain("export function softCap(");
    expect(read(".changeset/soft-cap.md")).toBe(
      '---\n"@warpwright/soft-cap": minor\n---\n\nAdd soft-cap on CPU and CUDA\n',
    );
    const functions = kind === "gated" ? "`softCap`, `softCapPair`" : "`softCap`";
    const row = `| [\`@warpwright/soft-cap\`](packages/soft-cap) | ${functions} | yes |`;
    expect(read("README.md")).toContain(`| a |\n${row} sm_80 and newer |\n\nThey\n`);
    expect(Object.values(written).join("\n")).not.toMatch(/new.?kernel/i);
  });

  test.each([
    [["Relu", "--kind", "gated"], 'expected a name of lower-case words*, got "Relu"'],
    [["relu", "--kind", "unary"], "expected --kind elementwise, gated, row-wise, got unary"],
    [["relu"], "expected --kind elementwise, gated, row-wise, got none"],
    [["--kind", "gated"], "expected one name, got none"],
    [["relu", "gelu", "--kind", "gated"], "expected one name, got relu,gelu"],
    [["relu", "--king", "gated"], "Unknown option '--king'*"],
    [["for", "--kind", "gated"], "for is a word of JavaScript's or C++'s; expected another name"],
    [["tensor", "--kind", "gated"], "a gated package uses tensor for something else;*"],
    [["rmsnorm", "--kind", "gated"], "there is a package rmsnorm already: packages/rmsnorm"],
    [["scripts", "--kind", "gated"], "there is a package scripts already: tooling/scripts"],
    [["common", "--kind", "common"], "expected --kind elementwise, gated, row-wise, got common"],
  ])("%j: one sentence, and nothing is written", (args, message) => {
    const before = contents();
    const { status, stderr } = run(...args);
    const [start, end] = message.split("*");
    expect(stderr.startsWith(`warpwright: ${start}`)).toBe(true);
    expect(stderr.trimEnd().endsWith(end ?? "")).toBe(true);
    expect(stderr.trimEnd().split("\n").length).toBe(1);
    expect(status).toBe(1);
    expect(contents()).toEqual(before);
  });

  test.each(["packages/relu/notes.md", ".changeset/relu.md"])("%s is not overwritten", (file) => {
    write(file, "mine\n");
    const before = contents();
    const { status, stderr } = run("relu", "--kind", "elementwise");
    expect(stderr).toMatch(/is there already, and is not overwritten\n$/);
    expect(status).toBe(1);
    expect(contents()).toEqual(before);
  });

  test("without a table of kernels nothing is written", () => {
    write("README.md", "# Kernels\n");
    const before = contents();
    expect(() => planKernel(root, "relu", "gated")).toThrow("README.md has no table of kernels");
    expect(contents()).toEqual(before);
  });
});
