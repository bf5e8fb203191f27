// Addons with a fault each, in the place of an installed package's own.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Installed } from "./installed.js";

export const platform = `${process.platform}-${process.arch}`;

export function addonOf(installed: Installed): string {
  return join(installed.package, "prebuilds", platform, "runtime.node");
}

/** What the addon is made of, given the good one. */
export type Plant = (path: string, good: Buffer) => void;

export const cutOff: Plant = (path, good) => writeFileSync(path, good.subarray(0, -1));

export const empty: Plant = (path) => writeFileSync(path, "");

/** A file as macOS has them. */
export const foreign: Plant = (path, good) => {
  writeFileSync(path, Buffer.concat([Buffer.from("cffaedfe", "hex"), good.subarray(4)]));
};

const elfMachine = 18;
const arm64 = 183;

export const otherProcessor: Plant = (path, good) => {
  const copy = Buffer.from(good);
  copy.writeUInt16LE(arm64, elfMachine);
  writeFileSync(path, copy);
};

/** Linked with a library that is gone when it is loaded. */
export const missingLibrary: Plant = (path) => {
  link(path, { library: "libwarpwright-absent.so.1" });
};

/** Linked with a C library of a version that no system has. */
export const newerGlibc: Plant = (path) => {
  link(path, { library: "libc.so.6", versions: "GLIBC_9.9 { global: absent; };\n" });
};

/** Ends whatever loads it. */
export const aborting: Plant = (path) => {
  compile(path, "#include <cstdlib>\nstruct End { End() { std::abort(); } } end;\n");
};

function compile(path: string, source: string): void {
  writeFileSync(`${path}.cc`, source);
  execFileSync("g++", ["-shared", "-fPIC", "-o", path, `${path}.cc`]);
  rmSync(`${path}.cc`);
}

function link(path: string, { library, versions = "" }: { library: string; versions?: string }) {
  const folder = `${path}.build`;
  mkdirSync(folder);
  writeFileSync(join(folder, "library.cc"), 'extern "C" int absent() { return 0; }\n');
  writeFileSync(join(folder, "library.map"), versions || "{ global: *; };\n");
  writeFileSync(
    join(folder, "addon.cc"),
    'extern "C" int absent(); int use() { return absent(); }',
  );
  const shared = (args: string[]) =>
    execFileSync("g++", ["-shared", "-fPIC", "-nostdlib", ...args], { cwd: folder });
  const map = "-Wl,--version-script=library.map";
  shared(["-o", library, `-Wl,-soname=${library}`, map, "library.cc"]);
  shared(["-o", path, "addon.cc", library]);
  rmSync(folder, { recursive: true });
}

/** Replaces the addon, and returns what puts the good one back. */
export function plant(installed: Installed, fault: Plant): () => void {
  const path = addonOf(installed);
  const good = readFileSync(path);
  fault(path, good);
  return () => writeFileSync(path, good);
}
