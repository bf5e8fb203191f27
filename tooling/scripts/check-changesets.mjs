// The headers and the Node-API packages are compiled into every addon, but only as devDependencies,
// which changesets does not follow: a change of theirs must name every native package, or users
// would keep the old binaries.
//   node tooling/scripts/check-changesets.mjs [--base <commit>] [--release] [--root <checkout>]
// Without a base it compares with the headers' last release, which all pending changesets describe;
// with one, the changesets that the branch adds must describe what the branch changes. A release
// needs the whole history.
import fs from "node:fs";
import path from "node:path";
import { catalogVersions, pendingChangesets } from "./changesets.mjs";
import { capture, Failure, nativePackages, repoRoot, runMain, workspacePackages } from "./lib.mjs";
import { readOptions } from "./options.mjs";

const compiledIn = ["packages/headers/include", "packages/headers/cmake"];
const headersPackage = "@warpwright/headers";
/** Only `changeset version` writes it. */
const headersChangelog = "packages/headers/CHANGELOG.md";

runMain(() => {
  const values = readOptions({
    base: { type: "string" },
    release: { type: "boolean", default: false },
    root: { type: "string", default: repoRoot },
  });
  const git = (...args) => capture("git", args, { cwd: values.root });
  if (values.base === undefined && git("rev-parse", "--is-shallow-repository") === "true") {
    const problem = "a shallow clone does not show the last release";
    if (values.release) throw new Failure(problem);
    return console.log(`changesets: not checked, ${problem}`);
  }
  for (const name of pendingChangesets(values.root)) checkText(values.root, name);
  const base = values.base === undefined ? lastRelease(git) : forkPoint(git, values.base);
  const named = namedPackages(values.root, describingChangesets(git, values));
  const changes = [
    ...headerChanges(git, base, values.root),
    ...catalogChanges(git, base, values.root),
  ];
  for (const { what, packages } of changes) {
    const missing = packages.filter((name) => !named.has(name));
    if (missing.length === 0) continue;
    const where = values.base === undefined ? "" : " of this branch";
    throw new Failure(
      `${what} changed, and no changeset${where} names ${missing.join(", ")}: npm run changeset`,
    );
  }
  const what = changes.map((change) => change.what).join(", ") || "nothing compiled into addons";
  console.log(`changesets: ${what} changed since ${base ?? "the start"}, all packages are named`);
});

/** null before the first; HEAD while a new one is not committed yet. */
function lastRelease(git) {
  if (git("status", "--porcelain", "--", headersChangelog)) return "HEAD";
  return git("log", "-1", "--format=%H", "--", headersChangelog) || null;
}

function forkPoint(git, base) {
  const commit = git("merge-base", base, "HEAD");
  if (commit === null) throw new Failure(`git knows no commit that HEAD shares with ${base}`);
  return commit;
}

/** Names of files in .changeset; for a branch, those that it added or wrote to. */
function describingChangesets(git, { base, root }) {
  const pending = pendingChangesets(root);
  if (base === undefined) return pending;
  const changed = changedFiles(git, forkPoint(git, base), [".changeset"]);
  return pending.filter((name) => changed.includes(`.changeset/${name}`));
}

/** Front matter, with a line of "package": bump for each, and what the changelogs say. */
function partsOf(root, changeset) {
  const text = fs.readFileSync(path.join(root, ".changeset", changeset), "utf8");
  const [, head = "", ...body] = text.split(/^---$/m);
  return { head, body: body.join("---").trim() };
}

/** A changelog is a list, of which a changeset is one line. */
function checkText(root, changeset) {
  const lines = partsOf(root, changeset).body.split("\n").length;
  if (lines > 1) {
    throw new Failure(`.changeset/${changeset}: expected one line of text, got ${lines}`);
  }
}

function namedPackages(root, changesets) {
  const heads = changesets.map((name) => partsOf(root, name).head);
  return new Set(
    heads.flatMap((head) => [...head.matchAll(/^["']?([^"':\n]+)["']?:/gm)].map((m) => m[1])),
  );
}

function headerChanges(git, base, root) {
  const changed = base === null || changedFiles(git, base, compiledIn).length > 0;
  return changed ? [{ what: "packages/headers", packages: builtWith(headersPackage, root) }] : [];
}

/** Of entries that a published package depends on; tools for development release nothing. */
function catalogChanges(git, base, root) {
  const file = "pnpm-workspace.yaml";
  const before = catalogVersions(base === null ? "" : (git("show", `${base}:${file}`) ?? ""));
  const now = catalogVersions(fs.readFileSync(path.join(root, file), "utf8"));
  const published = workspacePackages(root).filter(({ manifest }) => !manifest.private);
  return published.flatMap(({ manifest }) =>
    Object.entries(manifest.dependencies ?? {})
      .filter(([name, range]) => range === "catalog:" && before.get(name) !== now.get(name))
      .map(([name]) => ({
        what: `${name} in the catalog`,
        packages: builtWith(manifest.name, root),
      })),
  );
}

/** The package, and for the headers whatever is compiled with them. */
function builtWith(name, root) {
  if (name !== headersPackage) return [name];
  return [name, ...nativePackages(root).map(({ manifest }) => manifest.name)];
}

/** Committed since, changed since, or not added yet. */
function changedFiles(git, base, paths) {
  const changed = git("diff", "--name-only", base, "--", ...paths);
  if (changed === null) throw new Failure(`git does not know the commit ${base}`);
  const added = git("ls-files", "--others", "--exclude-standard", "--", ...paths) ?? "";
  return `${changed}\n${added}`.split("\n").filter(Boolean);
}
