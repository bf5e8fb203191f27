import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { compile } from "./compiling.js";
import { CommandFailure, parseOptions } from "./failures.js";
import { findFrom, type InstalledPackage, installedPackages, readPackage } from "./packages.js";
import { stage } from "./staging.js";
import { cacheFolder, findToolbox, type Toolbox } from "./toolbox.js";
import { type BuildSettings, findTools } from "./tools.js";

export const buildUsage = `usage: npx @warpwright/runtime build [package…] [--cpu] [--archs <list>]
                                       [--yes]

Builds the addons of packages that are installed here, all by default, from the sources inside them
and for this machine, and puts each into its package's prebuilds/. Needs g++ 11, CMake 3.25, ninja
or make, and nvcc of CUDA 13; and @warpwright/headers of the packages' version with what it depends
on, either from your own devDependencies or, with --yes, fetched by npm into the user's cache
folder, once. Nothing else is downloaded.

  --cpu           without CUDA
  --archs <list>  CUDA architectures in CMake's notation, such as "80;90a"; default: this machine's
                  GPUs, else the packages' own choice
  --yes           fetch @warpwright/headers where it is missing
`;

export async function build(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      cpu: { type: "boolean", default: false },
      archs: { type: "string" },
      yes: { type: "boolean", default: false },
    },
  });
  const chosen = choosePackages(process.cwd(), positionals);
  const settings = findTools({ cpu: values.cpu, archs: values.archs });
  for (const each of chosen) {
    const toolbox = findToolbox(each, { fetch: values.yes });
    buildPackage(each, toolbox, settings);
  }
  return 0;
}

/** Those with an addon; a name may leave out the scope. */
function choosePackages(folder: string, wanted: readonly string[]): InstalledPackage[] {
  const installed = installedPackages(folder);
  if (wanted.length === 0) return installed.filter(({ manifest }) => manifest.binary !== undefined);
  return wanted.map((word) => {
    const name = word.includes("/") ? word : `@warpwright/${word}`;
    const path = findFrom(folder, name);
    const found =
      installed.find(({ manifest }) => manifest.name === name) ?? (path && readPackage(path));
    if (!found) {
      throw new CommandFailure(`build: ${name} is not installed here; run "npm install ${name}"`);
    }
    if (found.manifest.binary === undefined) {
      throw new CommandFailure(`build: ${name} has no addon, there is nothing to build`);
    }
    return found;
  });
}

/**
 * In a folder of its own, since the installed package has no headers; always the same one, since
 * nvcc puts the sources' path into the addon.
 */
function buildPackage(
  installed: InstalledPackage,
  toolbox: Toolbox,
  settings: BuildSettings,
): void {
  const { name, version } = installed.manifest;
  console.log(`${name} ${version}: building ${settings.nvcc ? "with CUDA" : "for the CPU alone"}`);
  const folder = join(cacheFolder(), "build", installed.names.short);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  try {
    for (const each of ["package.json", "CMakeLists.txt", "csrc"]) {
      cpSync(join(installed.folder, each), join(folder, each), { recursive: true });
    }
    const headers = join(folder, "node_modules/@warpwright/headers");
    mkdirSync(dirname(headers), { recursive: true });
    symlinkSync(toolbox.headers, headers);
    compile(folder, toolbox, settings);
    console.log(`${name} ${version}: ${stage(installed, folder)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
