// Turbo's remote cache as CI uses it: one checkout fills it, another builds from it without a
// compiler, and what was changed, or tampered with, is compiled again. The addons are built without
// CUDA and without optimisation: what is tried here is the cache.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { startCacheServer } from "../release/cache-server.mjs";
import { platformFolder, workspacePackages } from "../scripts/lib.mjs";
import { buildTasks, expectSame, packagesWith, plannedTasks, turbo, withChange } from "./cache.mjs";
import { copyCheckout } from "./checkout.mjs";
import { output } from "./report.mjs";

const kernel = "@warpwright/rmsnorm";
/** Nothing comes from the machine that builds, or stays there. */
const remoteOnly = "--cache=local:,remote:rw";

export async function checkRemoteCache(report) {
  // CMake would take a compiler's path apart at a space.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright-remote-"));
  const server = await report.check("a cache server starts", () =>
    startCacheServer(path.join(folder, "cache")),
  );
  if (server === undefined) return;
  const compiler = new LoggingCompiler(folder);
  const checkouts = ["first", "second"].map((name) => new Checkout(name, server, compiler));
  await checkReuse(report, compiler, checkouts);
  await checkMisses(report, compiler, checkouts[1]);
  await checkRefusals(report, { server, compiler, checkouts });
  await server.stop();
  for (const each of [folder, ...checkouts.map(({ root }) => root)]) {
    fs.rmSync(each, { recursive: true, force: true });
  }
}

async function checkReuse(report, compiler, [first, second]) {
  await report.check("the first checkout compiles and fills the cache", async () => {
    await first.build();
    if (compiler.runs() === 0) throw new Error("the compiler did not run");
  });
  await report.check("a second checkout builds from it, and no compiler runs", async () => {
    const { cached, total } = await second.build();
    if (cached !== total) throw new Error(`${cached} of ${total} cached`);
    if (compiler.runs() > 0) throw new Error("the compiler ran");
    expectSameAddons(first, second);
  });
}

async function checkMisses(report, compiler, checkout) {
  const native = packagesWith("build:native").map((name) => `${name}#build:native`);
  const cases = [
    ["nothing changed", null, []],
    ["a changed header", "packages/headers/include/warpwright/dtype.h", native],
    ["a changed compiler flag", "packages/headers/cmake/warpwright.cmake", native],
  ];
  for (const [name, file, expected] of cases) {
    await report.check(`${name}: the cache lacks ${expected.length} native builds`, () =>
      withChange(checkout.root, file, async () => expectSame(await checkout.missing(), expected)),
    );
  }
  await report.check("another compiler: the cache lacks all of them", async () => {
    await checkout.recordToolchain({ CXX: compiler.newer });
    expectSame(await checkout.missing(), native);
    await checkout.recordToolchain();
  });
}

async function checkRefusals(report, { server, compiler, checkouts: [first, second] }) {
  const rebuild = async (env) => {
    await second.buildKernel(env);
    if (compiler.runs() === 0) throw new Error("the compiler did not run");
    expectSameAddons(first, second);
  };
  await report.check("an artefact that was tampered with is refused", async () => {
    const file = server.artefact(await second.hashOf(`${kernel}#build:native`));
    const bytes = fs.readFileSync(file);
    bytes[bytes.length >> 1] ^= 1;
    fs.writeFileSync(file, bytes);
    await rebuild();
  });
  await report.check("an artefact that another key signed is refused", () =>
    rebuild({ TURBO_REMOTE_CACHE_SIGNATURE_KEY: "another key, as long as a key has to be" }),
  );
}

function expectSameAddons(...checkouts) {
  const [a, b] = checkouts.map(({ addon }) => fs.readFileSync(addon));
  if (!a.equals(b)) throw new Error("the addons differ");
}

/** A copy of the checkout that builds with a cache of no machine but the server. */
class Checkout {
  #env;
  #folder;

  constructor(name, server, compiler) {
    this.root = copyCheckout(name);
    const { folder } = workspacePackages().find(({ manifest }) => manifest.name === kernel);
    this.#folder = folder;
    this.addon = path.join(this.root, folder, "prebuilds", platformFolder, "rmsnorm.node");
    this.#env = { ...process.env, ...server.env, CXX: compiler.path, CUDACXX: "none" };
  }

  /** Installs and builds everything; returns the numbers of tasks. */
  async build() {
    const script = path.join(this.root, "tooling/scripts/bootstrap.mjs");
    const text = await this.#node([script, "build", remoteOnly]);
    const [, cached, total] = /Cached: +(\d+) cached, (\d+) total/.exec(text) ?? [];
    return { cached, total };
  }

  /** One addon, of which nothing is left. */
  buildKernel(env = {}) {
    for (const built of ["build", "prebuilds"]) {
      fs.rmSync(path.join(this.root, this.#folder, built), { recursive: true, force: true });
    }
    const args = ["run", "build:native", `--filter=${kernel}`, remoteOnly];
    return turbo(this.root, args, { ...this.#env, ...env });
  }

  /** Tasks of a build that the cache does not have. */
  async missing() {
    const tasks = await this.#plan();
    return tasks.filter(({ cache }) => cache.status !== "HIT").map(({ taskId }) => taskId);
  }

  async hashOf(id) {
    return (await this.#plan()).find(({ taskId }) => taskId === id).hash;
  }

  recordToolchain(env = {}) {
    return this.#node([path.join(this.root, "tooling/scripts/toolchain.mjs")], env);
  }

  #plan() {
    return plannedTasks(this.root, buildTasks, this.#env, [remoteOnly]);
  }

  #node(args, env = {}) {
    return output(process.execPath, args, { cwd: this.root, env: { ...this.#env, ...env } });
  }
}

/** The C++ compiler behind a script that notes each run. */
class LoggingCompiler {
  #log;

  constructor(folder) {
    this.#log = path.join(folder, "compiled");
    this.path = path.join(folder, "cxx");
    this.newer = path.join(folder, "newer-cxx");
    const note = `case "$*" in *-c*) echo "$*" >> "${this.#log}" ;; esac`;
    script(this.path, `${note}\nexec c++ "$@" -O0`);
    script(this.newer, 'echo "c++ 99.0.0"');
  }

  /** How often it compiled since the last question. */
  runs() {
    if (!fs.existsSync(this.#log)) return 0;
    const lines = fs.readFileSync(this.#log, "utf8").split("\n").length - 1;
    fs.rmSync(this.#log);
    return lines;
  }
}

function script(file, text) {
  fs.writeFileSync(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}
