// What turbo's cache must and must not reuse. A copy of the checkout in another place builds from
// the cache alone; then one file at a time is changed there, and turbo asked what it would run.
import fs from "node:fs";
import path from "node:path";
import { platformFolder, repoRoot, workspacePackages } from "../scripts/lib.mjs";
import { nodeMajor } from "../scripts/requirements.mjs";
import { copyCheckout } from "./checkout.mjs";
import { output } from "./report.mjs";

export const buildTasks = ["build:native", "build:ts"];

export async function checkCache(report) {
  const copy = copyCheckout("cache");
  const native = packagesWith("build:native");
  const aKernel = native.find((name) => name.endsWith("/rmsnorm"));
  const kernelFolder = folderOf(aKernel);

  await report.check("a second build is all hits", () => buildFromCache(repoRoot));
  await report.check("tests that passed are not run again", async () => {
    expectSame(await missedTasks(repoRoot, ["test"]), []);
  });
  await report.check("tests of another Node.js are", async () => {
    const missed = await missedTasks(repoRoot, ["test"], { WARPWRIGHT_NODE: "0" });
    if (missed.length < 2) throw new Error(`turbo would run [${missed}]`);
  });
  await report.check("a second checkout builds from the cache alone", async () => {
    await buildFromCache(copy);
    const addon = `${kernelFolder}/prebuilds/${platformFolder}/rmsnorm.node`;
    const [here, there] = [repoRoot, copy].map((root) => fs.readFileSync(path.join(root, addon)));
    if (!here.equals(there)) throw new Error(`${addon} differs`);
  });

  const cases = [
    ["nothing changed", null, []],
    ["a changed header", "packages/headers/include/warpwright/dtype.h", native],
    ["a changed CMake module", "packages/headers/cmake/warpwright.cmake", native],
    ["a changed toolchain", ".toolchain.json", native],
    ["a changed build script", "tooling/scripts/build-native.mjs", native],
    ["a changed kernel", `${kernelFolder}/csrc/binding.cc`, [aKernel]],
    ["a changed addon of the runtime", "packages/runtime/csrc/binding.cc", ["@warpwright/runtime"]],
    ["a changed CMakeLists.txt", `${kernelFolder}/CMakeLists.txt`, [aKernel]],
  ];
  for (const [name, file, expected] of cases) {
    await report.check(`${name} runs ${expected.length} native builds and nothing else`, () =>
      withChange(copy, file, async () => {
        const wanted = expected.map((owner) => `${owner}#build:native`);
        expectSame(await missedTasks(copy, buildTasks), wanted);
      }),
    );
  }
  await report.check("other architectures rebuild every addon", async () => {
    const env = { WARPWRIGHT_CUDA_ARCHS: "75" };
    expectSame(
      await missedTasks(copy, buildTasks, env),
      native.map((owner) => `${owner}#build:native`),
    );
  });
  fs.rmSync(copy, { recursive: true, force: true });
}

/** Both checkouts use this one's cache, wherever it is. */
function environment(more = {}) {
  const cache = path.resolve(repoRoot, process.env.TURBO_CACHE_DIR ?? ".turbo/cache");
  return { ...process.env, WARPWRIGHT_NODE: nodeMajor, TURBO_CACHE_DIR: cache, ...more };
}

async function buildFromCache(root) {
  const script = path.join(root, "tooling/scripts/bootstrap.mjs");
  const options = { cwd: root, env: environment() };
  const text = await output(process.execPath, [script, "build"], options);
  const [, cached, total] = /Cached: +(\d+) cached, (\d+) total/.exec(text) ?? [];
  if (cached === undefined || cached !== total) throw new Error(`${cached} of ${total} cached`);
}

/** Of those tasks that have a script, the ones that turbo would run; a dry run builds nothing. */
async function missedTasks(root, names, more) {
  const tasks = await plannedTasks(root, names, environment(more));
  return tasks.filter(({ cache }) => cache.status !== "HIT").map(({ taskId }) => taskId);
}

/** Those tasks that have a script, as turbo describes them. */
export async function plannedTasks(root, names, env, flags = []) {
  const text = await turbo(root, ["run", ...names, "--dry=json", ...flags], env);
  const { tasks } = JSON.parse(text.slice(text.indexOf("{")));
  return tasks.filter(({ command }) => command !== "<NONEXISTENT>");
}

export function turbo(root, args, env) {
  const bin = ["node_modules/.bin", ".tools/node_modules/.bin"].map((name) =>
    path.join(root, name),
  );
  const PATH = [...bin, process.env.PATH].join(path.delimiter);
  return output(path.join(bin[0], "turbo"), args, { cwd: root, env: { ...env, PATH } });
}

export function expectSame(actual, wanted) {
  const [a, b] = [actual, wanted].map((names) => [...names].sort().join(", "));
  if (a !== b) throw new Error(`turbo would run [${a}], expected [${b}]`);
}

/** A space at the end changes the text of every kind of file here and the meaning of none. */
export async function withChange(root, name, run) {
  if (name === null) return run();
  const file = path.join(root, name);
  const before = fs.readFileSync(file);
  fs.appendFileSync(file, " ");
  try {
    await run();
  } finally {
    fs.writeFileSync(file, before);
  }
}

export function packagesWith(script) {
  const found = workspacePackages().filter(({ manifest }) => manifest.scripts?.[script]);
  return found.map(({ manifest }) => manifest.name);
}

function folderOf(name) {
  return workspacePackages().find(({ manifest }) => manifest.name === name).folder;
}
