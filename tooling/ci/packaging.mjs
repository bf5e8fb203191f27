// Packs every published package as a release would, and looks at what users would get.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { repoRoot, workspacePackages } from "../scripts/lib.mjs";
import { checkContents } from "./contents.mjs";
import { output } from "./report.mjs";

const binFolder = path.join(repoRoot, "node_modules/.bin");
const pnpm = path.join(repoRoot, ".tools/node_modules/pnpm/bin/pnpm.cjs");

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
    await report.check(`contents of ${name}`, () => checkContents(file, source, manifest));
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

function exportTargets(exports) {
  if (typeof exports === "string") return [exports.replace(/^\.\//, "")];
  return Object.values(exports).flatMap(exportTargets);
}

/** The headers have no JavaScript to type. */
function hasTypes(manifest) {
  return exportTargets(manifest.exports).some((target) => target.endsWith(".d.ts"));
}
