// Releases as release.yml does, to a registry on the loopback, and installs from it: everything
// once, then one kernel, the runtime, and the headers. What did not change has to stay as it was.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { output } from "../ci/report.mjs";
import { addonName, isAtLeast, nativePackages, platformFolder, repoRoot } from "../scripts/lib.mjs";
import { startRegistry } from "./registry.mjs";
import { kernels, smoke } from "./smoke.mjs";
import { Workspace } from "./workspace.mjs";

const runtime = "@warpwright/runtime";
const headers = "@warpwright/headers";
const kernel = "@warpwright/rmsnorm";
const program = path.join(repoRoot, "tooling/ci/consumer/program.mjs");

export async function checkRelease(report) {
  const registry = await report.check("a registry starts", startRegistry);
  if (registry === undefined) return;
  const workspace = new Workspace(registry.env);
  const user = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright user "));
  const rehearsal = new Rehearsal(registry, workspace, user);
  for (const [name, step] of rehearsal.steps()) {
    const done = await report.check(name, async () => {
      await step.call(rehearsal);
      return true;
    });
    if (!done) break; // the next ones build on it
  }
  workspace.remove();
  fs.rmSync(user, { recursive: true, force: true });
  await registry.stop();
}

class Rehearsal {
  #registry;
  #workspace;
  #user;

  constructor(registry, workspace, user) {
    this.#registry = registry;
    this.#workspace = workspace;
    this.#user = user;
  }

  steps() {
    return [
      ["nothing is published while a changeset waits", this.#waitingChangeset],
      ["the first release versions every package", this.#firstVersions],
      ["addons without CUDA, or for too few architectures, are refused", this.#incompleteAddons],
      ["a rehearsal is refused by any other registry", this.#otherRegistry],
      ["the first release publishes dependencies first", this.#firstRelease],
      ["npm install of a kernel alone brings the runtime, and runs", this.#firstInstall],
      ["npm, pnpm and yarn install a kernel, and its README's example runs", this.#smoke],
      ["a changed kernel is all that a release publishes", this.#changedKernel],
      ["a release without changes publishes nothing", this.#nothingNew],
      ["the changed kernel runs with the runtime that was there", this.#update],
      ["a minor of the runtime leaves the kernels alone", this.#runtimeMinor],
      ["a changed header is refused without changesets", this.#headerRefused],
      ["a changed header versions every native package", this.#headerChange],
    ];
  }

  async #waitingChangeset() {
    const names = this.#workspace.packages().map(({ manifest }) => manifest.name);
    this.#workspace.addChangeset("minor", names, "Rehearse a release of everything");
    assert.match(await this.#workspace.refusal(["release", "--publish"]), /not released yet/);
  }

  async #firstVersions() {
    const before = this.#workspace.versions();
    await this.#workspace.version();
    for (const { folder, manifest } of this.#workspace.packages()) {
      const [old, next] = [before[manifest.name], manifest.version];
      assert.ok(
        next !== old && isAtLeast(next, old),
        `${manifest.name} went from ${old} to ${next}`,
      );
      const changes = this.#workspace.changes(folder);
      assertReadsWell(changes);
      assert.match(changes, /^- \w+: Rehearse a release of everything$/m);
    }
  }

  async #incompleteAddons() {
    const refused = await this.#workspace.refusal(["release", "--build"]);
    assert.match(refused, /a release holds CUDA code, and nvcc was not found/);
    const text = await this.#workspace.refusal(["release", "--publish"]);
    assert.match(text, /rmsnorm (was built without CUDA|lacks one of)/);
    assert.equal(await this.#published(kernel), null);
  }

  async #otherRegistry() {
    const elsewhere = { npm_config_registry: "https://registry.npmjs.org/" };
    const task = ["release", "--publish", "--rehearsal"];
    const text = await this.#workspace.refusal(task, elsewhere);
    assert.match(text, /a rehearsal publishes on this machine/);
  }

  async #firstRelease() {
    const all = Object.entries(this.#workspace.versions()).map((each) => each.join("@"));
    assert.deepEqual((await this.#workspace.unpublished()).sort(), all.sort());
    await this.#workspace.release();
    assert.deepEqual(await this.#workspace.unpublished(), []);
    const tags = this.#workspace.git("tag").split("\n");
    for (const { manifest } of this.#workspace.packages()) {
      const { name, version, peerDependencies, dependencies } = manifest;
      const published = await this.#published(name);
      assert.deepEqual(Object.keys(published.versions), [version]);
      assert.ok(tags.includes(`${name}@${version}`), `${name} has no tag`);
      assert.deepEqual(published.versions[version].peerDependencies, peerDependencies);
      assert.match(published.versions[version].repository.url, /warpwright\/rehearsal/);
      for (const before of Object.keys({ ...dependencies, ...peerDependencies })) {
        if (!before.startsWith("@warpwright/")) continue;
        const [first, then] = [await this.#published(before), published].map(firstTime);
        assert.ok(first < then, `${before} was published after ${name}`);
      }
    }
  }

  async #firstInstall() {
    fs.writeFileSync(path.join(this.#user, "package.json"), '{ "type": "module" }\n');
    fs.copyFileSync(program, path.join(this.#user, "program.mjs"));
    await this.#install(kernel);
    assert.equal(this.#installed(runtime), this.#workspace.versions()[runtime]);
  }

  async #smoke() {
    const manifest = kernels(this.#workspace.root).find(({ name }) => name === kernel);
    for (const manager of ["npm", "pnpm", "yarn"]) {
      const printed = await smoke(manager, manifest, this.#registry.env);
      assert.match(printed, /\d/);
    }
  }

  async #changedKernel() {
    const before = this.#workspace.versions();
    const { folder } = this.#workspace.packages().find(({ manifest: m }) => m.name === kernel);
    const mark = '[[gnu::used, gnu::retain]] static const char rehearsed[] = "second release";\n';
    this.#workspace.append(`${folder}/csrc/binding.cc`, mark);
    this.#workspace.addChangeset("patch", [kernel], "Rehearse a change of one kernel");
    await this.#workspace.version();
    const expected = { ...before, [kernel]: nextPatch(before[kernel]) };
    assert.deepEqual(this.#workspace.versions(), expected);
    const changes = this.#workspace.changes(folder);
    assert.match(changes, /^### Patch Changes\n\n- \w+: Rehearse a change of one kernel$/);

    await this.#workspace.build(folder);
    await this.#workspace.release();
    for (const [name, version] of Object.entries(before)) {
      const versions = name === kernel ? [version, expected[kernel]] : [version];
      assert.deepEqual(Object.keys((await this.#published(name)).versions), versions, name);
    }
    const { versions } = await this.#published(kernel);
    const ranges = Object.values(versions).map(({ peerDependencies }) => peerDependencies[runtime]);
    assert.equal(ranges[1], ranges[0]);
  }

  async #nothingNew() {
    assert.match(await this.#workspace.release(), /There are no new packages/);
  }

  async #update() {
    const before = this.#installed(runtime);
    await this.#install(`${kernel}@latest`);
    assert.equal(this.#installed(kernel), this.#workspace.versions()[kernel]);
    assert.equal(this.#installed(runtime), before);
    const addon = `prebuilds/${platformFolder}/${addonName({ name: kernel })}.node`;
    const bytes = fs.readFileSync(path.join(this.#user, "node_modules", kernel, addon));
    assert.ok(bytes.includes("second release"), "the addon is the first release's");
  }

  async #runtimeMinor() {
    const before = this.#workspace.versions();
    this.#workspace.addChangeset("minor", [runtime], "Rehearse a minor of the runtime");
    await this.#workspace.version();
    const expected = { ...before, [runtime]: nextMinor(before[runtime]) };
    assert.deepEqual(this.#workspace.versions(), expected);
    await this.#workspace.release();
    await this.#install(`${runtime}@latest`);
    assert.equal(this.#installed(runtime), expected[runtime]);
    assert.equal(this.#installed(kernel), before[kernel]);
  }

  async #headerRefused() {
    this.#workspace.append("packages/headers/include/warpwright/dtype.h", "// changed\n");
    this.#workspace.commit("Change a header");
    const text = await this.#workspace.refusal(["version"]);
    for (const name of this.#headersAndNative()) assert.ok(text.includes(name), name);
  }

  async #headerChange() {
    const before = this.#workspace.versions();
    const names = this.#headersAndNative();
    this.#workspace.addChangeset("patch", names, "Rehearse a change of a header");
    await this.#workspace.version();
    const bumped = names.map((name) => [name, nextPatch(before[name])]);
    assert.deepEqual(this.#workspace.versions(), { ...before, ...Object.fromEntries(bumped) });
    for (const { folder, manifest } of this.#workspace.packages()) {
      if (!names.includes(manifest.name)) continue;
      const changes = this.#workspace.changes(folder);
      assert.match(changes, /^### Patch Changes\n\n- \w+: Rehearse a change of a header$/);
    }
  }

  #headersAndNative() {
    const native = nativePackages(this.#workspace.root).map(({ manifest }) => manifest.name);
    return [headers, ...native];
  }

  /** Installs as a user would, and runs the user's program. */
  async #install(name) {
    const options = { cwd: this.#user, env: this.#registry.env };
    await output("npm", ["install", "--no-audit", "--no-fund", name], options);
    await output(process.execPath, ["program.mjs"], options);
  }

  #installed(name) {
    const file = path.join(this.#user, "node_modules", name, "package.json");
    return JSON.parse(fs.readFileSync(file, "utf8")).version;
  }

  /** What the registry says of a package, or null. */
  async #published(name) {
    const response = await fetch(`${this.#registry.url}${name.replace("/", "%2f")}`);
    return response.ok ? response.json() : null;
  }
}

/** When a package's first version came, as text that sorts. */
function firstTime({ time, versions }) {
  return time[Object.keys(versions)[0]];
}

/** Sections of changesets' three kinds, one line for each change, and no word of dependencies. */
function assertReadsWell(changes) {
  const section = "### (Major|Minor|Patch) Changes\n\n(- [0-9a-f]{7}: [A-Za-z].*\n?)+";
  assert.match(changes, new RegExp(`^${section}(\n${section})*$`));
}

function nextMinor(version) {
  const [major, minor] = version.split(".").map(Number);
  return `${major}.${minor + 1}.0`;
}

function nextPatch(version) {
  const [major, minor, patch] = version.split(".").map(Number);
  return `${major}.${minor}.${patch + 1}`;
}
