// The GPU suites on the CUDA emulator, in its instrumented builds, which have to be there: started
// by `npm run test:emulated`. Arguments go to vitest; with them each build runs in one order of
// threads only, without the search for leaks. The environment may choose too:
//   WARPWRIGHT_EMULATOR_CHECK    check or asan: this build alone
//   WARPWRIGHT_EMULATOR_SEED     this order of threads, blocks and streams
//   WARPWRIGHT_EMULATOR_SUITES   all: also the suites that take long, or want a GPU's memory;
//                                memory: not those that look at values alone, as asan by itself
import { spawnSync } from "node:child_process";
import os from "node:os";
import path from "node:path";
import { emulatedAddons, instrumented, onDevices } from "./emulated.mjs";
import { capture, Failure, repoRoot, runMain } from "./lib.mjs";

const vitest = path.join(repoRoot, "node_modules/vitest/vitest.mjs");
const demo = path.join(repoRoot, "docs/examples/demo");

/**
 * Build, seed, arguments for vitest and suites. 0 is the natural order; with an odd one the runtime
 * keeps freed blocks. What streams do depends on the order; races in a kernel are found in any.
 */
const usualRuns = [
  ["check", "0", [onDevices]],
  ["check", "1", [onDevices, "packages/runtime", "tooling/headers-test"]],
  ["asan", "2", [], "memory"],
];

runMain(() => {
  const args = process.argv.slice(2);
  const { WARPWRIGHT_EMULATOR_CHECK: check, WARPWRIGHT_EMULATOR_SEED: seed } = process.env;
  if (check && !instrumented.includes(check)) {
    throw new Failure(`expected WARPWRIGHT_EMULATOR_CHECK to be check or asan, got ${check}`);
  }
  const isUsual = args.length === 0 && !seed;
  const runs = isUsual ? usualRuns : instrumented.map((build) => [build, seed || "0"]);
  const chosen = runs.filter(([build]) => !check || build === check);
  const failed = chosen.filter(
    ([build, order, only = args, suites = ""]) => !passes(build, order, only, suites),
  );
  const problems = failed.map(([build, order]) => `the suites in ${build}, seed ${order}`);
  if (isUsual && check !== "check" && !hasNoLeaks()) problems.push("the search for leaks");
  if (problems.length > 0) throw new Failure(`failed: ${problems.join("; ")}`);
});

function passes(build, seed, args, suites) {
  console.log(`\n--- emulated, ${build} build, seed ${seed}`);
  const workers = `--maxWorkers=${os.availableParallelism()}`;
  const env = {
    WARPWRIGHT_CUDA: "emulated",
    WARPWRIGHT_EMULATOR_CHECK: build,
    WARPWRIGHT_EMULATOR_SEED: seed,
    WARPWRIGHT_BLOCK_CACHE: String(Number(seed) % 2),
    WARPWRIGHT_EMULATOR_SUITES: process.env.WARPWRIGHT_EMULATOR_SUITES || suites,
    ...(build === "asan" ? preloaded({ detect_leaks: 0 }) : {}),
  };
  return succeeds([vitest, "run", workers, ...args], repoRoot, env);
}

// In a program that ends by itself: a worker of vitest's is stopped, and what JavaScript still
// holds would be counted. On one thread, as LeakSanitizer stops at the CPU backend's parked ones.
function hasNoLeaks() {
  console.log("\n--- emulated, asan build: leaks of the demo");
  return succeeds(["dist/main.js", "--device", "cuda", "--tokens", "2"], demo, {
    ...emulatedAddons("asan"),
    ...preloaded({ detect_leaks: 1 }),
    WARPWRIGHT_NUM_THREADS: "1",
  });
}

function preloaded(options) {
  const all = { detect_stack_use_after_return: 0, ...options };
  return {
    LD_PRELOAD: capture("gcc", ["-print-file-name=libasan.so"]),
    ASAN_OPTIONS: Object.entries(all)
      .map((option) => option.join("="))
      .join(":"),
  };
}

function succeeds(args, cwd, env) {
  const options = { cwd, stdio: "inherit", env: { ...process.env, ...env } };
  const { error, status } = spawnSync(process.execPath, args, options);
  if (error) throw new Failure(`cannot run ${args[0]}: ${error.message}`);
  return status === 0;
}
