import { readFileSync } from "node:fs";
import { buildCommand } from "../addon-names.js";
import { describeLibc, findLibc, neededGlibc } from "../libc.js";
import type { CudaState, Problem } from "./cuda.js";
import type { PackageState } from "./doctor.js";
import { findFrom, type InstalledPackage, isAtLeast, runtimeName, satisfies } from "./packages.js";

const newerGlibc = `use a system with glibc ${neededGlibc} or later, such as node:22-slim`;
const lowestNode = "20.19.0";

/** Node.js and the C library. */
export function systemProblems(): Problem[] {
  const problems: Problem[] = [];
  const { node } = process.versions;
  if (!isAtLeast(node, lowestNode)) {
    const remedy = `install Node.js ${lowestNode} or later`;
    problems.push({ problem: `Node.js ${node} is older than ${lowestNode}`, remedy });
  }
  const { family, version } = findLibc();
  if (family === "musl" || (version !== null && !isAtLeast(version, neededGlibc))) {
    problems.push({ problem: describeLibc(), remedy: newerGlibc });
  }
  return problems;
}

/** Kernels without a runtime, with one that is out of their range, or with different ones. */
export function peerProblems(installed: readonly InstalledPackage[]): Problem[] {
  const problems = installed.flatMap(({ manifest, folder }) => {
    const range = manifest.peerDependencies?.[runtimeName];
    if (range === undefined) return [];
    const found = findFrom(folder, runtimeName);
    const version = found === null ? null : versionAt(found);
    if (version !== null && satisfies(version, range)) return [];
    const state = version === null ? "none is installed" : `${version} is installed`;
    return [
      {
        problem: `${manifest.name} needs ${runtimeName} ${range}, and ${state}`,
        remedy: `run "npm install ${runtimeName}@latest ${manifest.name}@latest"`,
      },
    ];
  });
  const runtimes = installed.filter(({ manifest }) => manifest.name === runtimeName);
  if (runtimes.length < 2) return problems;
  const folders = runtimes.map(({ folder }) => folder).join(" and ");
  const copies = `${runtimes.length} copies of ${runtimeName}`;
  return [
    ...problems,
    {
      problem: `there are ${copies}, which share no streams: ${folders}`,
      remedy: 'bring the packages to versions that accept one runtime, then run "npm dedupe"',
    },
  ];
}

function versionAt(folder: string): string {
  const text = readFileSync(`${folder}/package.json`, "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Addons that cannot use a GPU of this machine. */
export function buildProblems(packages: readonly PackageState[], cuda: CudaState): Problem[] {
  return packages.flatMap(({ name, addon, devices }) => {
    if (!cuda.present || addon === null || addon.failure !== null || addon.buildInfo === null)
      return [];
    const remedy = `run "${buildCommand(name)}"`;
    if (!addon.buildInfo.cuda) return [{ problem: `${name} was built without CUDA`, remedy }];
    const reasons = Object.values(devices);
    if (reasons.length === 0 || reasons.includes(null)) return [];
    return [{ problem: `${name} has no code for the GPUs here: ${reasons[0]}`, remedy }];
  });
}
