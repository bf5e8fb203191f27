// The headers are compiled into every addon, but only as a devDependency, which changesets does not
// follow: a change of theirs must name every native package, or users would keep the old binaries.
//   node tooling/scripts/check-changesets.mjs [--base <commit>] [--root <checkout>]
// Without a base it looks at everything since the last release, which the pending changesets
// describe.
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { capture, Failure, nativePackages, repoRoot, runMain } from "./lib.mjs";

const compiledIn = ["packages/headers/include", "packages/headers/cmake"];
const headersPackage = "@warpwright/headers";

runMain(() => {
  const { values } = parseArgs({
    options: { base: { type: "string" }, root: { type: "string", default: repoRoot } },
  });
  const git = (...args) => capture("git", args, { cwd: values.root });
  if (values.base === undefined && git("rev-parse", "--is-shallow-repository") === "true") {
    return console.log("changesets: not checked, a shallow clone does not show the last release");
  }
  if (!headersChanged(git, values.base ?? lastRelease(git))) {
    return console.log("changesets: the headers did not change since the last release");
  }
  const named = namedPackages(path.join(values.root, ".changeset"));
  const needed = [
    headersPackage,
    ...nativePackages(values.root).map(({ manifest }) => manifest.name),
  ];
  const missing = needed.filter((name) => !named.has(name));
  if (missing.length > 0) {
    throw new Failure(
      `packages/headers changed, and no changeset names ${missing.join(", ")}: npm run changeset`,
    );
  }
  console.log("changesets: the headers changed, and every native package is named");
});

/** `changeset version` deletes the changesets that it released; null before the first time. */
function lastRelease(git) {
  const released = ["log", "-1", "--diff-filter=D", "--format=%H", "--", ".changeset/*.md"];
  return git(...released) || null;
}

function headersChanged(git, base) {
  if (base === null) return true;
  const changed = git("diff", "--name-only", base, "--", ...compiledIn);
  if (changed === null) throw new Failure(`git does not know the commit ${base}`);
  return changed !== "" || git("ls-files", "--others", "--exclude-standard", ...compiledIn) !== "";
}

/** A changeset begins with front matter: a line of "package": bump for each. */
function namedPackages(folder) {
  const files = fs
    .readdirSync(folder)
    .filter((name) => name.endsWith(".md") && name !== "README.md");
  const texts = files.map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
  const heads = texts.map((text) => text.split(/^---$/m)[1] ?? "");
  return new Set(
    heads.flatMap((head) => [...head.matchAll(/^["']?([^"':\n]+)["']?:/gm)].map((m) => m[1])),
  );
}
