// Whether a package's suites notice a broken kernel: each mutation of its test/mutations.json is
// made in a copy of its sources, built for the emulator's checks, and a suite has to fail on it.
//   node tooling/scripts/mutate.mjs [package's folder ...]     default: all that have the file
// The emulator and the unmutated addons have to be built, as `npm run test:emulated` does.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { addonVariable, emulatedVariables, onDevices } from "./emulated.mjs";
import {
  addonName,
  Failure,
  findProgram,
  readJson,
  repoRoot,
  runMain,
  workspacePackages,
} from "./lib.mjs";

const headers = "packages/headers";
const generator = findProgram("ninja") ? "Ninja" : "Unix Makefiles";

runMain(async () => {
  const chosen = process.argv
    .slice(2)
    .map((folder) => path.relative(repoRoot, path.resolve(folder)));
  const folders = chosen.length > 0 ? chosen : workspacePackages().map(({ folder }) => folder);
  const lists = folders
    .map((folder) => ({ folder, file: path.join(repoRoot, folder, "test/mutations.json") }))
    .filter(({ file }) => fs.existsSync(file))
    .map(({ folder, file }) => ({ folder, mutations: readJson(file) }))
    .sort((a, b) => b.mutations.length - a.mutations.length);
  const failed = await inParallel(lists, checkPackage);
  if (failed > 0) throw new Failure(`${failed} mutations or controls failed`);
});

/** How many failed. The longest come first, or the last would be waited for alone. */
async function inParallel(lists, failuresOf) {
  const waiting = [...lists];
  let failed = 0;
  const worker = async () => {
    for (let list = waiting.shift(); list; list = waiting.shift()) failed += await failuresOf(list);
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
  return failed;
}

/** The mutations one after another in one copy: only what includes their file is compiled again. */
async function checkPackage({ folder, mutations }) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright mutation "));
  // Of the copy itself no suite complains: what the others report is the mutation's doing.
  const suites = [...new Set(mutations.flatMap((mutation) => mutation.suites))];
  let failed = 0;
  try {
    copySources(root, folder);
    await configure(path.join(root, folder));
    for (const each of [{ name: "nothing changed", suites }, ...mutations]) {
      if (!(await check(root, folder, each))) failed++;
    }
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
  return failed;
}

async function check(root, folder, mutation) {
  const start = performance.now();
  const { passed, why } = await verdict(root, folder, mutation).catch((error) => {
    if (!(error instanceof Failure)) throw error;
    return { passed: false, why: error.message };
  });
  const seconds = ((performance.now() - start) / 1e3).toFixed(0);
  const title = `${path.basename(folder)}, ${mutation.suites}: ${mutation.name}`;
  console.log(`${passed ? "ok  " : "FAIL"} ${title} (${seconds} s)\n     ${why}`);
  return passed;
}

async function verdict(root, folder, mutation) {
  const file = mutation.file && path.join(root, mutation.file);
  const original = file && fs.readFileSync(file, "utf8");
  if (file) fs.writeFileSync(file, mutated(original, mutation));
  try {
    const addon = await build(path.join(root, folder));
    const { status, output } = await runSuites(folder, mutation.suites, addon);
    if (!file) return { passed: status === 0, why: status === 0 ? "passes" : output };
    const failedTests = Number(/^ *Tests .*?(\d+) failed/m.exec(output)?.[1] ?? 0);
    if (failedTests === 0) return { passed: false, why: "no test of the suites notices" };
    return { passed: true, why: /^\s*(\w*Error: .*)$/m.exec(output)?.[1] ?? output };
  } finally {
    // Written anew, so that it is newer than what was built of it.
    if (file) fs.writeFileSync(file, original);
  }
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

function mutated(text, { from, to }) {
  const parts = text.split(from);
  if (parts.length === 2) return parts.join(to);
  throw new Failure(`the text is in the source ${parts.length - 1} times, not once`);
}

async function configure(source) {
  const definitions = Object.entries(emulatedVariables("check"));
  const options = definitions.map(([name, value]) => `-D${name}=${value}`);
  await cmake(["-S", source, "-B", buildFolder(source), "-G", generator, ...options]);
}

/** Returns the addon's path. */
async function build(source) {
  await cmake(["--build", buildFolder(source), `--parallel=${os.availableParallelism()}`]);
  const name = addonName(readJson(path.join(source, "package.json")));
  return path.join(buildFolder(source), "Release", `${name}.node`);
}

function buildFolder(source) {
  return path.join(source, "build-emulated");
}

async function cmake(args) {
  const { status, output } = await capture("cmake", args);
  if (status !== 0) throw new Failure(`the sources do not build:\n${output}`);
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
  const args = [vitest, "run", "--bail=1", "--maxWorkers=1", onDevices, ...files];
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
