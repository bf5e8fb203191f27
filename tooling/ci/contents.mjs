// What a published package's tarball holds, to the file: what runs, what it is built from on
// request, and what says so.
import fs from "node:fs";
import path from "node:path";
import { addonName, platformFolder, repoRoot, sourceFiles } from "../scripts/lib.mjs";
import { output } from "./report.mjs";

const installScripts = ["preinstall", "install", "postinstall", "prepare", "prepublish"];

/** Throws with everything that a tarball lacks, or holds beyond what it may. */
export async function checkContents(tarball, folder, manifest) {
  const listing = await output("tar", ["-tzf", tarball]);
  const names = listing.trim().split("\n");
  const packed = JSON.parse(await output("tar", ["-xzOf", tarball, "package/package.json"]));
  const problems = [
    ...fileProblems(
      names.map((name) => name.replace(/^package\//, "")),
      expectedFiles(folder, manifest),
    ),
    ...manifestProblems(packed),
  ];
  if (problems.length > 0) throw new Error(problems.join(", "));
}

export function fileProblems(names, expected) {
  const [held, allowed] = [names, expected].map((each) => new Set(each));
  return [
    ...expected.filter((name) => !held.has(name)).map((name) => `lacks ${name}`),
    ...names.filter((name) => !allowed.has(name)).map((name) => `holds ${name}`),
  ];
}

/** Of the packed manifest: nothing runs at an install, and every range means something there. */
export function manifestProblems(manifest) {
  const { scripts = {}, gypfile } = manifest;
  const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
  const ranges = { ...manifest.devDependencies, ...dependencies, ...manifest.peerDependencies };
  return [
    ...installScripts.filter((name) => scripts[name]).map((name) => `has a script ${name}`),
    ...(gypfile === undefined ? [] : ["has gypfile"]),
    ...Object.entries(ranges)
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `depends on ${name} as ${range}`),
  ];
}

/** A changelog is there from the first version on. */
export function expectedFiles(folder, manifest, root = repoRoot) {
  const has = (name) => fs.existsSync(path.join(root, folder, name));
  const native = manifest.scripts?.["build:native"] !== undefined;
  const sources = native ? ["csrc", "CMakeLists.txt"] : ["include", "cmake"];
  const staged = `prebuilds/${platformFolder}`;
  return [
    "package.json",
    "README.md",
    "LICENSE",
    ...(has("CHANGELOG.md") ? ["CHANGELOG.md"] : []),
    ...knownFiles(folder, sources, root),
    ...knownFiles(folder, ["src"], root).flatMap(compiledFiles),
    ...(native ? [`${staged}/${addonName(manifest)}.node`, `${staged}/build-info.json`] : []),
  ];
}

function knownFiles(folder, names, root) {
  const patterns = names.map((name) => `${folder}/${name}`);
  return sourceFiles(patterns, root).map((name) => name.slice(folder.length + 1));
}

function compiledFiles(source) {
  const name = source.replace(/^src\//, "dist/").replace(/\.ts$/, "");
  return [`${name}.js`, `${name}.d.ts`];
}
