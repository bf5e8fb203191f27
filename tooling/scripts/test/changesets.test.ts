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
  function version(): void {
    const cli = createRequire(import.meta.url).resolve("@changesets/cli/bin.js");
    const run = spawnSync(process.execPath, [cli, "version"], { cwd: copy.root, encoding: "utf8" });
    expect(run.stderr + run.stdout).toContain("files have been updated");
    expect(run.stderr).not.toContain("must depend on the current version");
  }

  test("a minor of the runtime leaves the kernels alone", () => {
    const before = versions();
    const kernels = workspacePackages(copy.root)
      .map(({ manifest }) => manifest)
      .filter((manifest) => manifest.peerDependencies?.[runtime] !== undefined);
    expect(kernels).not.toHaveLength(0);

    copy.addChangeset("minor", [runtime]);
    version();

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
  const headersChangelog = "packages/headers/CHANGELOG.md";

  function check(...args: string[]): { status: number | null; text: string } {
    const script = path.join(repoRoot, "tooling/scripts/check-changesets.mjs");
    const run = spawnSync(process.execPath, [script, "--root", copy.root, ...args], {
      encoding: "utf8",
    });
    return { status: run.status, text: run.stderr + run.stdout };
  }

  function append(file: string, text: string): void {
    fs.mkdirSync(path.dirname(path.join(copy.root, file)), { recursive: true });
    fs.appendFileSync(path.join(copy.root, file), text);
  }

  function commit(): void {
    copy.git("add", "--all");
    copy.git("commit", "--quiet", "--allow-empty", "--message=change");
  }

  /** As `npm run version` leaves it. */
  function release(): void {
    for (const file of copy.changesets()) fs.rmSync(path.join(copy.root, file));
    append(headersChangelog, "## next\n");
    commit();
  }

  function replaceInCatalog(entry: string): void {
    const file = path.join(copy.root, "pnpm-workspace.yaml");
    const text = fs.readFileSync(file, "utf8");
    const changed = text.replace(new RegExp(`^( +"?${entry}"?: ).*$`, "m"), "$1 999.0.0");
    expect(changed).not.toBe(text);
    fs.writeFileSync(file, changed);
  }

  const native = nativePackages().map(({ manifest }) => manifest.name);
  const all = ["@warpwright/headers", ...native];

  test("nothing changed since the base", () => {
    expect(check("--base", "HEAD").status).toBe(0);
  });

  test.each([
    ["a header, committed", header, true],
    ["a header, not committed", header, false],
    ["the CMake module", "packages/headers/cmake/warpwright.cmake", true],
  ])("a change without a changeset: %s", (_, file, committed) => {
    append(file, "# changed\n");
    if (committed) commit();
    const { status, text } = check("--base", committed ? "HEAD~1" : "HEAD");
    expect(status).toBe(1);
    for (const name of all) expect(text).toContain(name);
  });

  test("a text of two lines", () => {
    append(
      ".changeset/two-lines.md",
      '---\n"@warpwright/gelu": patch\n---\n\nOne line\nand another\n',
    );
    const { status, text } = check("--base", "HEAD");
    expect(status).toBe(1);
    expect(text).toContain(".changeset/two-lines.md: expected one line of text, got 2");
  });

  test.each(["node-addon-api", "node-api-headers", "cmake-js"])(
    "%s in the catalog is a change of the headers",
    (entry) => {
      release();
      replaceInCatalog(entry);
      for (const args of [[], ["--base", "HEAD"]]) {
        const { status, text } = check(...args);
        expect(status).toBe(1);
        expect(text).toContain(`${entry} in the catalog changed`);
        for (const name of all) expect(text).toContain(name);
      }
      copy.addChangeset("patch", all);
      expect(check("--base", "HEAD").status).toBe(0);
    },
  );

  test("a tool in the catalog releases nothing", () => {
    release();
    replaceInCatalog("vitest");
    replaceInCatalog("@types/node");
    expect(check().status).toBe(0);
  });

  test("a changeset that forgets one native package", () => {
    append(header, "#pragma once\n");
    copy.addChangeset("patch", ["@warpwright/headers", ...native.slice(1)]);
    const { status, text } = check("--base", "HEAD");
    expect(status).toBe(1);
    expect(text).toContain(`names ${native[0]}:`);
  });

  test("all of them named, in two changesets", () => {
    append(header, "#pragma once\n");
    copy.addChangeset("patch", ["@warpwright/headers"]);
    copy.addChangeset("minor", native);
    expect(check("--base", "HEAD").status).toBe(0);
  });

  test("a branch does not hide behind the changesets of its base", () => {
    append(header, "#pragma once\n");
    copy.addChangeset("minor", all);
    commit();
    copy.git("checkout", "--quiet", "-b", "branch");
    append(header, "// changed\n");
    commit();
    expect(check("--base", "main").status).toBe(1);
    copy.addChangeset("patch", all);
    commit();
    expect(check("--base", "main").status).toBe(0);
    // Nor does it answer for what its base got meanwhile.
    copy.git("checkout", "--quiet", "main");
    append("packages/headers/cmake/other.cmake", "# new\n");
    commit();
    copy.git("checkout", "--quiet", "branch");
    expect(check("--base", "main").status).toBe(0);
  });

  test("without a base, what the last release did not have counts", () => {
    copy.addChangeset("minor", all);
    append(header, "#pragma once\n");
    commit();
    expect(check().status).toBe(0);
    release();
    expect(check().text).toContain("nothing compiled into addons changed");
    append(header, "// changed\n");
    expect(check().status).toBe(1);
  });

  test("a deleted changeset is no release", () => {
    release();
    append(header, "#pragma once\n");
    copy.addChangeset("patch", all);
    commit();
    for (const file of copy.changesets()) fs.rmSync(path.join(copy.root, file));
    commit();
    expect(check().status).toBe(1);
  });

  test("between npm run version and its commit", () => {
    append(header, "#pragma once\n");
    commit();
    append(headersChangelog, "## next\n");
    expect(check().status).toBe(0);
  });

  test("a shallow clone is no ground for a release", () => {
    fs.writeFileSync(path.join(copy.root, ".git/shallow"), `${copy.git("rev-parse", "HEAD")}\n`);
    expect(check()).toMatchObject({ status: 0, text: expect.stringContaining("not checked") });
    expect(check("--release").status).toBe(1);
  });

  test.each([
    [["--base", "no-such-branch"], "git knows no commit that HEAD shares with no-such-branch"],
    [["--bse", "main"], "Unknown option '--bse'"],
  ])("%j is refused in one line", (args, expected) => {
    const { status, text } = check(...args);
    expect(status).toBe(1);
    expect(text).toContain(expected);
    expect(text).not.toContain("    at ");
  });
});
