// A checkout with nothing in it but the manifests, for tests that version packages or commit.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { repoRoot, workspacePackages } from "../lib.mjs";

export interface WorkspaceCopy {
  root: string;
  /** Writes a changeset that releases the named packages. */
  addChangeset(bump: "patch" | "minor", names: readonly string[]): void;
  /** Their files, relative to root. */
  changesets(): string[];
  /** Returns what git printed. */
  git(...args: string[]): string;
  remove(): void;
}

export function copyWorkspace(): WorkspaceCopy {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright workspace "));
  const manifests = workspacePackages().map(({ folder }) => `${folder}/package.json`);
  const files = ["package.json", "pnpm-workspace.yaml", ".changeset/config.json", ...manifests];
  for (const file of files) {
    fs.mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
    fs.copyFileSync(path.join(repoRoot, file), path.join(root, file));
  }
  const git = (...args: string[]): string => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    return execFileSync("git", [...identity, ...args], { cwd: root, encoding: "utf8" }).trim();
  };
  const changesets = (): string[] => {
    const names = fs.readdirSync(path.join(root, ".changeset"));
    return names.filter((name) => name.endsWith(".md")).map((name) => `.changeset/${name}`);
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");
  return {
    root,
    git,
    changesets,
    addChangeset(bump, names) {
      const head = names.map((name) => `"${name}": ${bump}`).join("\n");
      const file = `.changeset/change-${changesets().length}.md`;
      fs.writeFileSync(path.join(root, file), `---\n${head}\n---\n\nChange something\n`);
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}
