// Packs every published package as a release would, and looks at what users would get.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { addonName, platformFolder, repoRoot, workspacePackages } from "../scripts/lib.mjs";
import { output } from "./report.mjs";

const binFolder = path.join(repoRoot, "node_modules/.bin");
const pnpm = path.join(repoRoot, ".tools/node_modules/pnpm/bin/pnpm.cjs");
const installScripts = ["preinstall", "install", "postinstall", "prepare"];
const foldersNotForUsers =
  /(^|\/)(test|bench|build|build-emulated|prebuilds-emulated|node_modules)\//;
const filesNotForUsers = /\.[jt]s\.map$|\.tsbuildinfo$|binding\.gyp$/;

/** Returns the tarballs' folder and paths by package name. */
export async function checkTarballs(report) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright tarballs "));
  const files = new Map();
  for (const { folder: source, manifest } of workspacePackages()) {
    if (manifest.private) continue;
    const { name } = manifest;
    const file = await report.check(`pack ${name}`, () => pack(source, manifest, folder));
    if (file === undefined) continue;
    files.set(name, file);
    await report.check(`contents of ${name}`, () => checkContents(file, manifest));
    await report.check(`publint ${name}`, () => output(`${binFolder}/publint`, [file, "--strict"]));
    if (!hasTypes(manifest)) continue;
    const attw = [file, "--profile", "esm-only", "--no-emoji"];
    await report.check(`attw ${name}`, () => output(`${binFolder}/attw`, attw));
  }
  return { folder, files };
}

async function pack(source, manifest, destination) {
  const args = [pnpm, "--dir", source, "pack", "--pack-destination", destination];
  await output(process.execPath, args);
  const flat = manifest.name.replace("@", "").replace("/", "-");
  const file = path.join(destination, `${flat}-${manifest.version}.tgz`);
  if (!fs.existsSync(file)) throw new Error(`expected ${file}`);
  return file;
}

async function checkContents(tarball, source) {
  const listing = await output("tar", ["-tzf", tarball]);
  const names = listing
    .trim()
    .split("\n")
    .map((name) => name.replace(/^package\//, ""));
  const packed = JSON.parse(await output("tar", ["-xzOf", tarball, "package/package.json"]));
  const problems = [
    ...expectedFiles(source)
      .filter((name) => !names.includes(name))
      .map((name) => `lacks ${name}`),
    ...names
      .filter((name) => foldersNotForUsers.test(name) || filesNotForUsers.test(name))
      .map((name) => `holds ${name}`),
    ...installScripts
      .filter((name) => packed.scripts?.[name])
      .map((name) => `has a script ${name}`),
  ];
  const ranges = Object.entries({ ...packed.dependencies, ...packed.peerDependencies });
  for (const [name, range] of ranges) {
    if (/^(workspace|catalog):/.test(range)) problems.push(`depends on ${name} as ${range}`);
  }
  if (problems.length > 0) throw new Error(problems.join(", "));
}

function expectedFiles(manifest) {
  const staged = `prebuilds/${platformFolder}`;
  const native = manifest.scripts?.["build:native"] !== undefined;
  return [
    "README.md",
    "LICENSE",
    ...exportTargets(manifest.exports),
    ...(native ? [`${staged}/${addonName(manifest)}.node`, `${staged}/build-info.json`] : []),
  ];
}

function exportTargets(exports) {
  if (typeof exports === "string") return [exports.replace(/^\.\//, "")];
  return Object.values(exports).flatMap(exportTargets);
}

/** The headers have no JavaScript to type. */
function hasTypes(manifest) {
  return exportTargets(manifest.exports).some((target) => target.endsWith(".d.ts"));
}
