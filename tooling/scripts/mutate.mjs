// Whether a package's suites notice a broken kernel: each mutation of its test/mutations.json is
// made in a copy of its sources, built for the emulator's checks, and a suite has to fail on it.
//   node tooling/scripts/mutate.mjs [package's folder ...]     default: all that have the file
// The emulator and the unmutated addons have to be built, as `npm run test:emulated` does.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { addonVariable, emulatedVariables } from "./emulated.mjs";
import { addonName, Failure, readJson, repoRoot, runMain, workspacePackages } from "./lib.mjs";

const headers = "packages/headers";

runMain(async () => {
  const chosen = process.argv
    .slice(2)
    .map((folder) => path.relative(repoRoot, path.resolve(folder)));
  const folders = chosen.length > 0 ? chosen : workspacePackages().map(({ folder }) => folder);
  let failed = 0;
  for (const folder of folders) {
    const list = path.join(repoRoot, folder, "test/mutations.json");
    if (!fs.existsSync(list)) continue;
    const mutations = readJson(list);
    // Of the copy itself no suite complains: what the others report is the mutation's doing.
    const suites = [...new Set(mutations.flatMap((mutation) => mutation.suites))];
    const control = { name: "nothing changed", file: null, suites };
    failed += await inParallel([control, ...mutations], (each) => check(folder, each));
  }
  if (failed > 0) throw new Failure(`${failed} mutations or controls failed`);
});

/** How many of the items failed. */
async function inParallel(items, failsOn) {
  const waiting = [...items];
  let failed = 0;
  const worker = async () => {
    for (let item = waiting.shift(); item; item = waiting.shift()) failed += await failsOn(item);
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
  return failed;
}

async function check(folder, mutation) {
  const start = performance.now();
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright mutation "));
  try {
    const { passed, why } = await verdict(root, folder, mutation);
    const seconds = ((performance.now() - start) / 1e3).toFixed(0);
    const title = `${path.basename(folder)}, ${mutation.suites}: ${mutation.name}`;
    console.log(`${passed ? "ok  " : "FAIL"} ${title} (${seconds} s)\n     ${why}`);
    return passed ? 0 : 1;
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

async function verdict(root, folder, mutation) {
  copySources(root, folder);
  if (mutation.file !== null) mutate(path.join(root, mutation.file), mutation);
  const addon = await build(path.join(root, folder));
  const { status, output } = await runSuites(folder, mutation.suites, addon);
  const failedTests = Number(/^ *Tests .*?(\d+) failed/m.exec(output)?.[1] ?? 0);
  if (mutation.file === null) {
    return { passed: status === 0, why: status === 0 ? "passes" : output };
  }
  const why = /^\s*(\w*Error: .*)$/m.exec(output)?.[1] ?? output;
  return failedTests > 0
    ? { passed: true, why }
    : { passed: false, why: "no test of the suites notices" };
}

/** The package and the headers, where each finds what it needs. */
function copySources(root, folder) {
  for (const [source, names] of [
    [folder, ["CMakeLists.txt", "package.json", "csrc"]],
    [headers, ["cmake", "include", "package.json"]],
  ]) {
    for (const name of names) {
      const from = path.join(repoRoot, source, name);
      fs.cpSync(from, path.join(root, source, name), { recursive: true });
    }
  }
  const modules = path.join(root, folder, "node_modules/@warpwright");
  fs.mkdirSync(modules, { recursive: true });
  fs.symlinkSync(path.join(root, headers), path.join(modules, "headers"));
  const headersModules = path.join(root, headers, "node_modules");
  fs.symlinkSync(path.join(repoRoot, headers, "node_modules"), headersModules);
}

function mutate(file, { name, from, to }) {
  const parts = fs.readFileSync(file, "utf8").split(from);
  if (parts.length !== 2) {
    throw new Failure(`${name}: the text is in the source ${parts.length - 1} times, not once`);
  }
  fs.writeFileSync(file, parts.join(to));
}

/** Returns the addon's path. */
async function build(source) {
  const folder = path.join(source, "build-emulated");
  const variables = Object.entries(emulatedVariables("check"));
  const definitions = variables.map(([name, value]) => `-D${name}=${value}`);
  for (const args of [
    ["-S", source, "-B", folder, ...definitions],
    ["--build", folder],
  ]) {
    const { status, output } = await capture("cmake", args, { cwd: source });
    if (status !== 0) throw new Failure(`the mutated sources do not build:\n${output}`);
  }
  const name = addonName(readJson(path.join(source, "package.json")));
  return path.join(folder, "Release", `${name}.node`);
}

function runSuites(folder, suites, addon) {
  const vitest = path.join(repoRoot, "node_modules/vitest/vitest.mjs");
  const manifest = readJson(path.join(repoRoot, folder, "package.json"));
  const env = {
    ...process.env,
    NO_COLOR: "1",
    WARPWRIGHT_CUDA: "emulated",
    WARPWRIGHT_EMULATOR_CHECK: "check",
    [addonVariable(manifest)]: addon,
  };
  const files = suites.map((suite) => `test/${suite}.test.ts`);
  const args = [vitest, "run", "--bail=1", "--maxWorkers=1", ...files];
  return capture(process.execPath, args, { cwd: path.join(repoRoot, folder), env });
}

function capture(program, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output: Buffer.concat(chunks).toString() }));
  });
}
