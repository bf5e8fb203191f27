// What the workspace says of coming releases: waiting changesets, and the versions of its catalog.
import fs from "node:fs";
import path from "node:path";
import { repoRoot } from "./lib.mjs";

/** Names of the files in .changeset that wait for a release. */
export function pendingChangesets(root = repoRoot) {
  const names = fs.readdirSync(path.join(root, ".changeset"));
  return names.filter((name) => name.endsWith(".md") && name !== "README.md");
}

/** pnpm's catalog as a map, from the text of pnpm-workspace.yaml: the lines below `catalog:`. */
export function catalogVersions(
  text = fs.readFileSync(path.join(repoRoot, "pnpm-workspace.yaml"), "utf8"),
) {
  const [, lines = ""] = /^catalog:\n((?: +.*\n?)*)/m.exec(text) ?? [];
  return new Map(
    [...lines.matchAll(/^ +["']?([^"'\s]+?)["']?: *(\S+)/gm)].map((m) => [m[1], m[2]]),
  );
}
