// Uses the tarballs as a stranger's project does: installed by npm with scripts off, imported and
// required, and compiled against by a strict TypeScript that checks our declarations too.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { repoRoot } from "../scripts/lib.mjs";
import { output } from "./report.mjs";

const fixture = path.join(repoRoot, "tooling/ci/consumer");
const tsc = path.join(repoRoot, "node_modules/.bin/tsc");
const consumed = ["@warpwright/runtime", "@warpwright/rmsnorm"];

export async function checkConsumers(report, { files }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright consumer "));
  fs.cpSync(fixture, folder, { recursive: true });
  const installed = await report.check("npm install of the tarballs, scripts off", async () => {
    const tarballs = consumed.map((name) => files.get(name));
    if (tarballs.includes(undefined)) throw new Error("a tarball is missing");
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund"];
    await output("npm", ["install", ...flags, ...tarballs], { cwd: folder });
    return true;
  });
  if (installed) {
    for (const program of ["program.mjs", "program.cjs"]) {
      await report.check(`run ${program}`, () =>
        output(process.execPath, [program], { cwd: folder }),
      );
    }
    for (const project of ["nodenext", "bundler"]) {
      const args = ["--project", `tsconfig.${project}.json`];
      await report.check(`compile for ${project}`, () => output(tsc, args, { cwd: folder }));
    }
  }
  fs.rmSync(folder, { recursive: true, force: true });
}
