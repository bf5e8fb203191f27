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
  git(...args: string[]): void;
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
  const git = (...args: string[]): void => {
    const identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"];
    execFileSync("git", [...identity, ...args], { cwd: root, stdio: "pipe" });
  };
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("commit", "--quiet", "--message=start");
  return {
    root,
    git,
    addChangeset(bump, names) {
      const head = names.map((name) => `"${name}": ${bump}`).join("\n");
      const file = `.changeset/change-${fs.readdirSync(path.join(root, ".changeset")).length}.md`;
      fs.writeFileSync(path.join(root, file), `---\n${head}\n---\n\nChange something\n`);
    },
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}
