import { platformName } from "../addon-names.js";
import { builtFor } from "../architectures.js";
import { findLibc, type Libc, neededGlibc } from "../libc.js";
import { type AddonState, tryAddon } from "./addons.js";
import { type CudaState, findCuda, type Problem } from "./cuda.js";
import { reportText } from "./doctor-text.js";
import { parseOptions } from "./failures.js";
import { type InstalledPackage, installedPackages } from "./packages.js";
import { buildProblems, peerProblems, systemProblems } from "./problems.js";

export const doctorUsage = `usage: npx @warpwright/runtime doctor [--json]

Says what Node.js, system, driver and GPUs there are, which packages of the scope the current folder
uses, whether their addons load, and what to do about each problem. The exit code is 0 if there is
none: a machine without a GPU is none.

  --json   the same as JSON, and nothing else on standard output
`;

export interface PackageState {
  name: string;
  version: string;
  folder: string;
  /** null for a package without one. */
  addon: AddonState | null;
  /** By device: null if the addon has code for it, else why it has none. */
  devices: Record<string, string | null>;
}

export interface Report {
  usable: boolean;
  node: string;
  platform: string;
  libc: Libc & { needed: string };
  cuda: CudaState;
  packages: PackageState[];
  problems: Problem[];
}

export async function doctor(args: readonly string[]): Promise<number> {
  const { values } = parseOptions({
    args: [...args],
    options: { json: { type: "boolean", default: false } },
  });
  const report = examine(process.cwd());
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  return report.usable ? 0 : 1;
}

function examine(folder: string): Report {
  const installed = installedPackages(folder);
  const cuda = findCuda();
  const packages = installed.map((each) => packageState(each, cuda));
  const problems = [
    ...systemProblems(),
    ...packages.flatMap(addonProblems),
    ...peerProblems(installed),
    ...(cuda.problem === null ? [] : [cuda.problem]),
    ...buildProblems(packages, cuda),
  ];
  return {
    usable: problems.length === 0,
    node: process.versions.node,
    platform: platformName(),
    libc: { ...findLibc(), needed: neededGlibc },
    cuda,
    packages,
    problems,
  };
}

function packageState(installed: InstalledPackage, { devices }: CudaState): PackageState {
  const addon = tryAddon(installed);
  const { name, version } = installed.manifest;
  const fits = devices.map(({ device, computeCapability }) => {
    const [major, minor] = computeCapability!.split(".").map(Number);
    return [device, builtFor(addon?.buildInfo?.archs ?? [], major!, minor!)];
  });
  return {
    name,
    version,
    folder: installed.folder,
    addon,
    devices: addon?.buildInfo?.cuda ? Object.fromEntries(fits) : {},
  };
}

function addonProblems({ name, addon }: PackageState): Problem[] {
  if (!addon?.failure) return [];
  const { reason, remedy } = addon.failure;
  return [{ problem: `the addon of ${name} does not load: ${reason}`, remedy }];
}
