// The GPU suites' subset under compute-sanitizer's four tools, on a machine with a GPU:
//
//   node tooling/scripts/sanitize.mjs [memcheck|racecheck|initcheck|synccheck ...]
//
// The subset is what each package keeps in test/sanitized.test.ts: small shapes that reach every
// kernel. A tool is trusted only if it also finds the faults that are planted for it.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { Failure, repoRoot, runMain } from "./lib.mjs";

const vitest = path.join(repoRoot, "node_modules/vitest/vitest.mjs");
const faultFolder = path.join(repoRoot, "tooling/headers-test");
const testTimeout = 300_000; // ms; racecheck slows a kernel a hundredfold
const foundStatus = 66; // compute-sanitizer's exit status when it reports an error

// Numbers of csrc/faults.h that each tool has to find.
const tools = {
  memcheck: { flags: ["--track-stream-ordered-races", "all"], faults: [0, 1] },
  racecheck: { flags: ["--racecheck-report", "all"], faults: [2] },
  initcheck: { flags: [], faults: [3] },
  synccheck: { flags: [], faults: [4] },
};

runMain(() => {
  const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(tools);
  let failed = 0;
  for (const tool of chosen) {
    if (!(tool in tools)) throw new Failure(`expected a tool of compute-sanitizer, got ${tool}`);
    for (const fault of tools[tool].faults) {
      failed += report(`${tool} finds planted fault ${fault}`, findsFault(tool, fault));
    }
    for (const folder of suites()) {
      const start = performance.now();
      const clean = isClean(tool, folder);
      const seconds = ((performance.now() - start) / 1e3).toFixed(0);
      failed += report(`${tool} is clean: ${folder} (${seconds} s)`, clean);
    }
  }
  if (failed > 0) throw new Failure(`${failed} of compute-sanitizer's runs failed`);
});

function report(name, passed) {
  console.log(`${passed ? "ok  " : "FAIL"} ${name}`);
  return passed ? 0 : 1;
}

function suites() {
  const groups = ["packages", "tooling"];
  const folders = groups.flatMap((group) =>
    fs.readdirSync(path.join(repoRoot, group)).map((name) => path.join(group, name)),
  );
  return folders.filter((folder) =>
    fs.existsSync(path.join(repoRoot, folder, "test/sanitized.test.ts")),
  );
}

function findsFault(tool, fault) {
  const { status, stdout } = sanitize(tool, faultFolder, ["plant-fault.mjs", String(fault)]);
  const found = status === foundStatus;
  if (!found) console.log(stdout);
  return found;
}

// Threads in one process, because every process of its own costs the tool a start.
function isClean(tool, folder) {
  const options = ["--pool=threads", "--maxWorkers=1", `--testTimeout=${testTimeout}`];
  const run = [vitest, "run", ...options, "test/sanitized.test.ts"];
  const { status, stdout } = sanitize(tool, path.join(repoRoot, folder), run);
  // A suite that skipped everything, as without a GPU, has shown nothing.
  const ran = /^ *Tests .*\b[1-9]\d* passed/m.test(stdout);
  const clean = status === 0 && ran;
  if (!clean) console.log(tellingLines(stdout).join("\n"));
  return clean;
}

/** The tool's first reports, and the end of what the suite printed. */
function tellingLines(stdout) {
  const isReport = (line) => line.startsWith("=========");
  const lines = stdout.split("\n");
  return [
    ...lines.filter(isReport).slice(0, 60),
    ...lines.filter((line) => !isReport(line)).slice(-60),
  ];
}

function sanitize(tool, cwd, args) {
  const { flags } = tools[tool];
  const options = ["--tool", tool, "--error-exitcode", String(foundStatus), ...flags];
  const { error, status, stdout, stderr } = spawnSync(
    "compute-sanitizer",
    [...options, "--target-processes", "all", process.execPath, ...args],
    {
      cwd,
      encoding: "utf8",
      maxBuffer: 2 ** 28,
      env: {
        ...process.env,
        NO_COLOR: "1",
        WARPWRIGHT_SANITIZE: tool,
        WARPWRIGHT_BLOCK_CACHE: "0",
      },
    },
  );
  if (error) throw new Failure(`cannot run compute-sanitizer: ${error.message}`);
  return { status, stdout: stdout + stderr };
}
