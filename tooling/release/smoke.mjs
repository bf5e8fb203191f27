// Installs every published kernel as a user would, and runs the first example of its README.
//   node tooling/release/smoke.mjs npm|pnpm|yarn
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { output } from "../ci/report.mjs";
import { catalogVersions } from "../scripts/changesets.mjs";
import {
  Failure,
  isMain,
  readJson,
  repoRoot,
  runMain,
  workspacePackages,
} from "../scripts/lib.mjs";

const runtime = "@warpwright/runtime";
const typescript = `typescript@${catalogVersions().get("typescript")}`;
const { packageManager } = readJson(path.join(repoRoot, "package.json"));
/**
 * By way of npm, which comes with Node.js. pnpm shows a program only what it names itself, and yarn
 * leaves peers to the user.
 */
const managers = {
  npm: { add: ["install", "--no-audit", "--no-fund"] },
  pnpm: {
    add: ["exec", "--yes", `--package=${packageManager}`, "--", "pnpm", "add"],
    also: [runtime],
  },
  yarn: { add: ["exec", "--yes", "--package=yarn@1.22.22", "--", "yarn", "add"], also: [runtime] },
};
/** A new version takes its time to all of the registry's servers. */
const attempts = 10;

/** The kernels: what is published and stands on the runtime alone. */
export function kernels(root) {
  return workspacePackages(root)
    .map(({ manifest }) => manifest)
    .filter(({ private: hidden, peerDependencies, scripts }) =>
      Boolean(!hidden && peerDependencies?.[runtime] && scripts?.["build:native"]),
    );
}

/** One kernel, at its version in the workspace, in a folder of its own; what its example prints. */
export async function smoke(manager, manifest, env = process.env) {
  const cwd = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright smoke "));
  try {
    await install(managers[manager], manifest, { cwd, env });
    return await runExample(manifest.name, cwd);
  } finally {
    fs.rmSync(cwd, { recursive: true, force: true });
  }
}

async function install({ add, also = [] }, { name, version }, { cwd, env }) {
  fs.writeFileSync(path.join(cwd, "package.json"), '{ "type": "module", "private": true }\n');
  await output("npm", [...add, `${name}@${version}`, ...also, typescript], { cwd, env });
  const installed = readJson(path.join(cwd, "node_modules", name, "package.json")).version;
  if (installed !== version) throw new Error(`${name} ${installed} was installed, not ${version}`);
}

async function runExample(name, cwd) {
  const readme = fs.readFileSync(path.join(cwd, "node_modules", name, "README.md"), "utf8");
  const [, example] = /^```ts\n(.*?)^```/ms.exec(readme) ?? [];
  if (example === undefined) throw new Error(`the README of ${name} has no example`);
  fs.writeFileSync(path.join(cwd, "example.ts"), example);
  const tsc = path.join(cwd, "node_modules/typescript/bin/tsc");
  const settings = ["--noCheck", "--module", "nodenext", "--target", "es2022", "--ignoreConfig"];
  await output(process.execPath, [tsc, ...settings, "example.ts"], { cwd });
  return output(process.execPath, ["example.js"], { cwd });
}

if (isMain(import.meta.url)) {
  runMain(async () => {
    const manager = process.argv[2];
    if (!Object.hasOwn(managers, manager ?? "")) {
      throw new Failure(`expected ${Object.keys(managers).join(", ")}, got ${manager}`);
    }
    for (const manifest of kernels()) {
      console.log(`${manifest.name}: ${await patiently(() => smoke(manager, manifest))}`);
    }
  });
}

async function patiently(run) {
  for (let attempt = 1; ; ++attempt) {
    try {
      return await run();
    } catch (error) {
      if (attempt === attempts) throw error;
      console.log(`attempt ${attempt} failed: ${error.message}`);
      await sleep(30_000);
    }
  }
}
