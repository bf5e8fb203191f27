// The parts of .ci/run in order. All of them run, whatever fails before; arguments name the parts
// to run. What may need an installed package is imported by its part: a fresh clone has none.
import fs from "node:fs";
import path from "node:path";
import { findNvcc, nativePackages, repoRoot } from "../scripts/lib.mjs";
import { Report } from "./report.mjs";

const report = new Report();
const only = new Set(process.argv.slice(2));

/** Asynchronous, since the parts print while they run. */
async function part(name, run) {
  if (only.size === 0 || only.has(name)) await report.part(name, run);
}

if (findNvcc() === null) console.log("nvcc not found: the CUDA build is skipped");

await part("install", () => bootstrap("install"));
await part("build", () => bootstrap("build"));
await part("test", () => report.tests("npm test", "npm", ["test"]));
await part("newer-node", async () => {
  const { checkNewerNode } = await import("./newer-node.mjs");
  await checkNewerNode(report);
});
await part("emulated", () =>
  report.tests("npm run test:emulated", "npm", ["run", "test:emulated"]),
);
await part("mutations", () =>
  report.command("mutations", process.execPath, ["tooling/scripts/mutate.mjs"]),
);
await part("lint", async () => {
  await report.command("biome", "node_modules/.bin/biome", ["check", "--error-on-warnings"]);
  await report.command("clang-format", process.execPath, ["tooling/scripts/check-format.mjs"]);
  await report.command("lines", process.execPath, ["tooling/scripts/check-lines.mjs"]);
  const changesets = "tooling/scripts/check-changesets.mjs";
  await report.command("changesets", process.execPath, [changesets]);
  const base = process.env.WARPWRIGHT_BASE;
  if (!base) return;
  await report.command("changesets of the branch", process.execPath, [changesets, "--base", base]);
});
await part("typecheck", () => bootstrap("typecheck"));
await part("binaries", async () => {
  const { checkAddon } = await import("../scripts/check-binary.mjs");
  for (const { folder, manifest } of nativePackages()) {
    await report.check(`addon of ${manifest.name}`, () => {
      const problems = checkAddon(path.join(repoRoot, folder), manifest);
      if (problems.length > 0) throw new Error(problems.join("\n"));
    });
  }
});
await part("packaging", async () => {
  const { checkTarballs } = await import("./packaging.mjs");
  const { checkConsumers } = await import("./consumers.mjs");
  const tarballs = await checkTarballs(report);
  await checkConsumers(report, tarballs);
  fs.rmSync(tarballs.folder, { recursive: true, force: true });
});
await part("release", async () => {
  const { checkRelease } = await import("../release/rehearsal.mjs");
  await checkRelease(report);
});
await part("cache", async () => {
  const { checkCache } = await import("./cache.mjs");
  await checkCache(report);
});
await part("generator", async () => {
  const { checkGenerator } = await import("./generator.mjs");
  await checkGenerator(report);
});
await part("remote-cache", async () => {
  const { checkRemoteCache } = await import("./remote-cache.mjs");
  await checkRemoteCache(report);
});
await part("demo", () =>
  report.command("npm run demo", "npm", ["run", "demo", "--", "--device", "cpu"]),
);

process.exitCode = report.close() ? 0 : 1;

function bootstrap(task) {
  return report.command(task, process.execPath, ["tooling/scripts/bootstrap.mjs", task]);
}
