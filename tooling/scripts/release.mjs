// `npm run version` turns changesets into versions and changelogs, `npm run release` builds and
// publishes what is not in the registry yet. CI rehearses both with a registry of its own.
import path from "node:path";
import { pendingChangesets } from "./changesets.mjs";
import { capture, Failure, findNvcc, repoRoot, workspacePackages, writeJson } from "./lib.mjs";
import { readOptions } from "./options.mjs";

/** Code for 8.0 also runs on 8.6 and 8.9; its PTX is for what comes after 12.0. */
const releaseArchs = "80-real;90a-real;100-real;120-real;80-virtual";

export function version({ node, tool, pnpm }) {
  node("check-changesets.mjs", "--release");
  tool("changeset", ["version"]);
  // In CI pnpm would refuse to write.
  pnpm(["install", "--lockfile-only", "--no-frozen-lockfile"]);
  tool("biome", ["check", "--write"]);
}

/**
 * Both halves, or one: a machine that builds needs no right to publish. `--rehearsal` admits addons
 * without CUDA, to a registry on this machine alone.
 */
export function release(args, programs) {
  const options = Object.fromEntries(
    ["build", "publish", "rehearsal"].map((name) => [name, { type: "boolean", default: false }]),
  );
  const values = readOptions(options, args);
  const both = !values.build && !values.publish;
  if (values.rehearsal) requireLoopback();
  if (values.build || both) build(programs);
  if (values.publish || both) publish(programs, values.rehearsal);
}

/** Never from the cache: what is published was compiled by this run. */
function build({ env, node, turbo }) {
  if (findNvcc() === null) throw new Failure("a release holds CUDA code, and nvcc was not found");
  env.WARPWRIGHT_REQUIRE_CUDA = "1";
  env.WARPWRIGHT_CUDA_ARCHS = releaseArchs;
  turbo("build", ["test", "--force"]);
  node("check-binary.mjs", "--archs", releaseArchs);
}

/**
 * In the order of their dependencies, so that a kernel is never there before its runtime: the
 * command of changesets publishes ten at a time. Run again, it goes on where it stopped.
 */
function publish({ node, pnpm, tool }, rehearsal) {
  const pending = pendingChangesets();
  if (pending.length > 0) {
    throw new Failure(`${pending.join(", ")} not released yet: npm run version, and commit`);
  }
  if (!rehearsal) node("check-changesets.mjs", "--release");
  node("check-binary.mjs", ...(rehearsal ? [] : ["--archs", releaseArchs]));
  nameRepository(process.env);
  pnpm(["publish", "--recursive", "--access", "public", "--no-git-checks"]);
  tool("changeset", ["tag"]);
}

/** npm's provenance holds only if a package names the repository that builds it. */
function nameRepository({ GITHUB_REPOSITORY, GITHUB_SERVER_URL }) {
  if (!GITHUB_REPOSITORY) return;
  const url = `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`;
  for (const { folder, manifest } of workspacePackages()) {
    if (manifest.private) continue;
    const repository = { type: "git", url, directory: folder };
    writeJson(path.join(repoRoot, folder, "package.json"), { ...manifest, repository });
  }
}

function requireLoopback() {
  const registry = capture("npm", ["config", "get", "registry"]) ?? "";
  if (registry.startsWith("http://127.0.0.1:")) return;
  throw new Failure(`a rehearsal publishes on this machine, and the registry is ${registry}`);
}
