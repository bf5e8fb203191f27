import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nativePackages, repoRoot, workspacePackages } from "../lib.mjs";
import { copyWorkspace, type WorkspaceCopy } from "./workspace-copy.js";

const runtime = "@warpwright/runtime";

let copy: WorkspaceCopy;
beforeEach(() => {
  copy = copyWorkspace();
});
afterEach(() => copy.remove());

function versions(): Record<string, string> {
  const packages = workspacePackages(copy.root).map(({ manifest }) => manifest);
  return Object.fromEntries(packages.map(({ name, version }) => [name, version]));
}

describe("changeset version", () => {
  test("a minor of the runtime leaves the kernels alone", () => {
    const before = versions();
    const kernels = workspacePackages(copy.root)
      .map(({ manifest }) => manifest)
      .filter((manifest) => manifest.peerDependencies?.[runtime] !== undefined);
    expect(kernels).not.toHaveLength(0);

    copy.addChangeset("minor", [runtime]);
    const cli = createRequire(import.meta.url).resolve("@changesets/cli/bin.js");
    const run = spawnSync(process.execPath, [cli, "version"], { cwd: copy.root, encoding: "utf8" });
    expect(run.stderr + run.stdout).toContain("files have been updated");

    const after = versions();
    expect(after[runtime]).toBe(nextMinor(before[runtime]!));
    expect({ ...after, [runtime]: "" }).toEqual({ ...before, [runtime]: "" });
  });
});

function nextMinor(version: string): string {
  const [major, minor] = version.split(".").map(Number);
  return `${major}.${minor! + 1}.0`;
}

describe("check-changesets", () => {
  const header = "packages/headers/include/warpwright/new.h";

  function check(...args: string[]): { status: number | null; text: string } {
    const script = path.join(repoRoot, "tooling/scripts/check-changesets.mjs");
    const run = spawnSync(process.execPath, [script, "--root", copy.root, ...args], {
      encoding: "utf8",
    });
    return { status: run.status, text: run.stderr + run.stdout };
  }

  function changeHeader(): void {
    fs.mkdirSync(path.dirname(path.join(copy.root, header)), { recursive: true });
    fs.writeFileSync(path.join(copy.root, header), "#pragma once\n");
  }

  const native = nativePackages().map(({ manifest }) => manifest.name);

  test("nothing changed since the base", () => {
    expect(check("--base", "HEAD").status).toBe(0);
  });

  test.each(["committed", "not committed"])("a changed header without a changeset: %s", (state) => {
    changeHeader();
    if (state === "committed") {
      copy.git("add", "--all");
      copy.git("commit", "--quiet", "--message=header");
    }
    const { status, text } = check("--base", state === "committed" ? "HEAD~1" : "HEAD");
    expect(status).toBe(1);
    for (const name of ["@warpwright/headers", ...native]) expect(text).toContain(name);
  });

  test("a changeset that forgets one native package", () => {
    changeHeader();
    copy.addChangeset("patch", ["@warpwright/headers", ...native.slice(1)]);
    const { status, text } = check("--base", "HEAD");
    expect(status).toBe(1);
    expect(text).toContain(`names ${native[0]}:`);
  });

  test("all of them named, in two changesets", () => {
    changeHeader();
    copy.addChangeset("patch", ["@warpwright/headers"]);
    copy.addChangeset("minor", native);
    expect(check("--base", "HEAD").status).toBe(0);
  });

  test("without a base, what the last release did not have counts", () => {
    copy.addChangeset("minor", ["@warpwright/headers", ...native]);
    changeHeader();
    copy.git("add", "--all");
    copy.git("commit", "--quiet", "--message=header");
    expect(check().status).toBe(0);
    copy.git("rm", "--quiet", ".changeset/change-1.md");
    copy.git("commit", "--quiet", "--message=release");
    expect(check().text).toContain("did not change since the last release");
    fs.appendFileSync(path.join(copy.root, header), "// changed\n");
    expect(check().status).toBe(1);
  });
});
