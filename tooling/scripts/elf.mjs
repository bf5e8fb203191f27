// What check-binary and staging read from an addon: the dynamic symbols, the libraries it needs,
// the lowest glibc it loads on, and the architectures of its CUDA code. readelf comes with g++; the
// toolkit's own lister is not in every installation, so the CUDA part is read here.
import fs from "node:fs";
import { capture, Failure, isAtLeast } from "./lib.mjs";

/** readelf's names of processors, by Node's. */
const machineArchs = { "Advanced Micro Devices X86-64": "x64", AArch64: "arm64" };

export function inspectAddon(file) {
  const table = readelf("--dyn-syms", file);
  const dynamic = readelf("--dynamic", file);
  const symbols = globalSymbols(table);
  const machine = /Machine: +(.+)/.exec(readelf("--file-header", file))?.[1];
  return {
    bytes: fs.statSync(file).size,
    arch: machineArchs[machine] ?? machine,
    exported: symbols.filter(({ section }) => section !== "UND").map(({ name }) => name),
    imported: symbols.filter(({ section }) => section === "UND").map(({ name }) => name),
    needed: [...dynamic.matchAll(/\(NEEDED\).*\[(.+)\]/g)].map((m) => m[1]),
    searched: [...dynamic.matchAll(/\(R(?:UN)?PATH\).*\[(.+)\]/g)].map((m) => m[1]),
    glibc: highestVersion([...table.matchAll(/@GLIBC_([\d.]+)/g)].map((m) => m[1])),
    archs: cudaArchs(file),
  };
}

function readelf(what, file) {
  const text = capture("readelf", ["--wide", what, file], { env: { ...process.env, LC_ALL: "C" } });
  if (text === null) throw new Failure(`readelf cannot read ${file}`);
  return text;
}

/** Columns: number, value, size, type, binding (maybe two words), visibility, section, name. */
function globalSymbols(table) {
  const row = /^ *\d+: \S+ +\S+ \S+ +(\S.*?) +(?:DEFAULT|PROTECTED) +(\S+) ([^@\s]+)/gm;
  const found = [...table.matchAll(row)].filter(([, binding]) => binding !== "LOCAL");
  return found
    .map(([, , section, name]) => ({ section, name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function highestVersion(versions) {
  return versions.reduce((highest, v) => (isAtLeast(highest, v) ? highest : v), "0");
}

// A fat binary is a run of containers (u32 magic, u16 version, u16 header size, u64 size of the
// rest), each holding images: u16 kind, u16, u32 header size, u64 size of the rest, at 28 the u32
// capability, at 40 the u64 flags, two of which are the suffixes a and f.
const containerMagic = 0xba55ed50;
const machineCode = 2;
const suffixes = [
  { flag: 0x100000n, suffix: "a" },
  { flag: 0x200000n, suffix: "f" },
];

/** In CMake's notation, sorted: "90a-real" is machine code, "80-virtual" is PTX. */
function cudaArchs(file) {
  const code = sectionBytes(file, ".nv_fatbin");
  const archs = new Set();
  for (let at = 0; at + 16 <= code.length; ) {
    if (code.readUInt32LE(at) !== containerMagic) {
      at += 8; // containers are aligned, with zeros between them
      continue;
    }
    const begin = at + code.readUInt16LE(at + 6);
    const end = begin + Number(code.readBigUInt64LE(at + 8));
    for (let image = begin; image < end; image += imageBytes(code, image)) {
      archs.add(imageArch(code, image));
    }
    at = end;
  }
  return [...archs].sort();
}

function imageBytes(code, image) {
  return code.readUInt32LE(image + 4) + Number(code.readBigUInt64LE(image + 8));
}

function imageArch(code, image) {
  const flags = code.readBigUInt64LE(image + 40);
  const suffix = suffixes.find(({ flag }) => (flags & flag) !== 0n)?.suffix ?? "";
  const kind = code.readUInt16LE(image) === machineCode ? "real" : "virtual";
  return `${code.readUInt32LE(image + 28)}${suffix}-${kind}`;
}

/** Columns after the number: name, type, address, offset, size. */
function sectionBytes(file, name) {
  for (const line of readelf("--sections", file).split("\n")) {
    const [section, , , offset, size] = line.replace(/^ *\[ *\d+\] */, "").split(/ +/);
    if (section !== name) continue;
    const begin = Number.parseInt(offset, 16);
    return fs.readFileSync(file).subarray(begin, begin + Number.parseInt(size, 16));
  }
  return Buffer.alloc(0);
}

/** What a list in CMake's notation builds, in the form of inspectAddon: "80" is code and PTX. */
export function expandArchs(archs) {
  const each = archs.map((arch) =>
    /-(real|virtual)$/.test(arch) ? [arch] : [`${arch}-real`, `${arch}-virtual`],
  );
  return [...new Set(each.flat())].sort();
}
