// Every root script starts here, so that a fresh clone needs nothing but Node.js and a compiler:
//   node tooling/scripts/bootstrap.mjs <task> [arguments for the task]
//   node tooling/scripts/bootstrap.mjs <task> --help
// It fetches the pinned pnpm, installs, records the toolchain, lets turbo build what is missing,
// and then runs the task.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { emulatedAddons } from "./emulated.mjs";
import { Failure, readJson, repoRoot, run, runMain, workspacePackages } from "./lib.mjs";
import { release, version } from "./release.mjs";
import { nodeMajor, requireCompilers, requireNode } from "./requirements.mjs";
import { writeToolchain } from "./toolchain.mjs";

const demoFolder = "docs/examples/demo";
/** The others need Node.js alone. */
const buildingTasks = new Set([
  "build",
  "demo",
  "test",
  "test:gpu",
  "test:emulated",
  "bench",
  "stress",
  "rehearse",
  "release",
]);
const runtimeOnly = ["--filter=./packages/runtime..."];
/** What `--help` says; a task that is not in takes no arguments. */
const usages = {
  build: "[arguments for turbo]",
  demo: "[--device cpu|cuda:<index>] [arguments for the demo]",
  test: "[files of tests, -t <name>, arguments for vitest]",
  "test:gpu": "[files of tests, -t <name>, arguments for vitest]",
  "test:emulated": "[files of tests, arguments for vitest]",
  bench: "[<package's folder> [arguments for its benchmark]]",
  stress: "[--emulated] [--device <device>] [--minutes <n>] [--seed <n>]",
  typecheck: "[arguments for turbo]",
  "new-kernel": "<name> --kind elementwise|gated|row-wise",
  changeset: "[arguments for changesets]",
  rehearse: "[<package's folder> ...] [--keep]",
  release: "[--build] [--publish] [--rehearsal]",
};
/** One package's failing test must not hide another's. */
const allOfThem = "--continue=dependencies-successful";
const toolsFolder = path.join(repoRoot, ".tools");
const scripts = path.join(repoRoot, "tooling/scripts");

// turbo finds pnpm on PATH; node_modules/.bin first, so that tasks get the pinned tools.
const env = {
  ...process.env,
  // Hashed with tests: what passed with one says nothing of another.
  WARPWRIGHT_NODE: nodeMajor,
  TURBO_TELEMETRY_DISABLED: "1",
  PATH: [
    path.join(repoRoot, "node_modules/.bin"),
    path.join(toolsFolder, "node_modules/.bin"),
    process.env.PATH,
  ].join(path.delimiter),
};

const tasks = {
  install() {},

  build: (args) => turbo("build", args),

  demo(args) {
    turbo("build", [`--filter={./${demoFolder}}...`]);
    pnpm(["--dir", demoFolder, "run", "--silent", "start", ...args]);
  },

  // With arguments: one vitest over the whole workspace, which takes file names and -t.
  test(args) {
    if (args.length > 0) return vitest(args);
    turbo(toolchain.gpus.length > 0 ? "test:gpu" : "test", [allOfThem]);
  },

  "test:gpu": (args) => (args.length > 0 ? vitest(args) : turbo("test:gpu", [allOfThem])),

  // Needs neither nvcc nor a GPU, nor the addons that nvcc builds.
  "test:emulated"(args) {
    turbo("build:emulated", ["build:ts", ...filtersFor(args)]);
    node("test-emulated.mjs", ...args);
  },

  // The first argument may name a package's folder: npm run bench -- rmsnorm --device cpu
  bench([kernel, ...args]) {
    if (kernel === undefined) return turbo("bench", ["--concurrency=1"]);
    const folder = ["packages", "tooling"]
      .map((group) => `${group}/${kernel}`)
      .find((each) => fs.existsSync(path.join(repoRoot, each, "package.json")));
    if (folder === undefined) throw new Failure(`there is no package ${kernel} to measure`);
    turbo("build", [`--filter={./${folder}}...`]);
    pnpm(["--dir", folder, "run", "--silent", "bench", ...args]);
  },

  // On the emulator its check build, whose kernels look at every access.
  stress(args) {
    const emulated = args.includes("--emulated");
    turbo(emulated ? "build:emulated" : "build", [
      ...runtimeOnly,
      ...(emulated ? ["build:ts"] : []),
    ]);
    if (emulated) Object.assign(env, emulatedAddons("check"));
    pnpm(["--dir", "packages/runtime", "run", "--silent", "stress", ...args]);
  },

  typecheck: (args) => turbo("typecheck", args),

  "new-kernel"(args) {
    node("../new-kernel/main.mjs", ...args);
    pnpm(["install", "--no-frozen-lockfile", "--config.confirmModulesPurge=false"]);
    tasks.format();
  },

  lint() {
    tool("biome", ["check", "--error-on-warnings"]);
    node("check-format.mjs");
    node("check-lines.mjs");
    node("check-changesets.mjs");
  },

  format() {
    tool("biome", ["check", "--write"]);
    node("check-format.mjs", "--write");
  },

  changeset: (args) => tool("changeset", args),

  version: () => version(programs),

  rehearse(args) {
    turbo("build", []);
    node("../release/rehearse.mjs", ...args);
  },

  release: (args) => release(args, programs),
};

let toolchain;

const programs = { env, node, pnpm, tool, turbo };

function turbo(task, args) {
  // CI counts tests, also those whose results come from the cache.
  const logs = process.env.CI && task === "test" ? "full" : "new-only";
  tool("turbo", ["run", task, `--output-logs=${logs}`, "--no-update-notifier", ...args]);
}

/** Names what the tests of the arguments need, where all arguments are paths inside packages. */
function filtersFor(args) {
  const folders = args.map((each) => /^(packages|tooling|docs\/examples)\/[^/]+/.exec(each)?.[0]);
  return folders.includes(undefined) ? [] : folders.map((folder) => `--filter={./${folder}}...`);
}

function vitest(args) {
  turbo("build", filtersFor(args));
  tool("vitest", ["run", ...args]);
}

function tool(name, args) {
  run(path.join(repoRoot, "node_modules/.bin", name), args, { cwd: repoRoot, env });
}

function pnpm(args) {
  const cli = path.join(toolsFolder, "node_modules/pnpm/bin/pnpm.cjs");
  run(process.execPath, [cli, ...args], { cwd: repoRoot, env });
}

function node(script, ...args) {
  run(process.execPath, [path.join(scripts, script), ...args], { cwd: repoRoot, env });
}

/** Into .tools, since corepack is not everywhere and a global pnpm is the user's. */
function fetchPnpm() {
  const { packageManager } = readJson(path.join(repoRoot, "package.json"));
  const manifest = path.join(toolsFolder, "node_modules/pnpm/package.json");
  if (fs.existsSync(manifest) && `pnpm@${readJson(manifest).version}` === packageManager) return;
  console.log(`fetching ${packageManager}`);
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--loglevel=error"];
  fs.mkdirSync(toolsFolder, { recursive: true });
  run("npm", ["install", "--prefix", toolsFolder, ...flags, packageManager], { cwd: toolsFolder });
}

/**
 * pnpm takes a second to find that nothing changed; a stamp of all manifests takes a millisecond.
 */
function install() {
  const manifests = workspacePackages().map(({ folder }) => `${folder}/package.json`);
  const files = ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests];
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(fs.readFileSync(path.join(repoRoot, file)));
  const stamp = hash.digest("hex");
  const stampFile = path.join(repoRoot, "node_modules/.warpwright-install");
  if (fs.existsSync(stampFile) && fs.readFileSync(stampFile, "utf8") === stamp) return;
  // Without a terminal pnpm would stop to ask before it replaces a folder of another version's.
  pnpm(["install", "--frozen-lockfile", "--config.confirmModulesPurge=false"]);
  fs.writeFileSync(stampFile, stamp);
}

runMain(() => {
  const [name, ...args] = process.argv.slice(2);
  const task = Object.hasOwn(tasks, name ?? "") ? tasks[name] : undefined;
  if (!task) throw new Failure(`expected a task of ${Object.keys(tasks).join(", ")}, got ${name}`);
  const usage = usages[name] === undefined ? "" : ` -- ${usages[name]}`;
  if (["--help", "-h"].includes(args[0])) return console.log(`usage: npm run ${name}${usage}`);
  if (usage === "" && args.length > 0) throw new Failure(`${name} takes no arguments, got ${args}`);
  requireNode();
  if (buildingTasks.has(name)) requireCompilers();
  fetchPnpm();
  install();
  toolchain = writeToolchain();
  task(args);
});
