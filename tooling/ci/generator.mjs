// A package of each kind, made by `npm run new-kernel` in a copy of the checkout, has to build and
// pass as it is. nvcc compiles it for one architecture, and the suites run on the emulator as the
// controls of its mutations.
import fs from "node:fs";
import path from "node:path";
import { kinds } from "../new-kernel/templates.mjs";
import { checkAddon } from "../scripts/check-binary.mjs";
import { hashedVariables, readJson, repoRoot } from "../scripts/lib.mjs";
import { copyCheckout } from "./checkout.mjs";
import { output } from "./report.mjs";

const oneArchitecture = { WARPWRIGHT_CUDA_ARCHS: "80" };

export async function checkGenerator(report) {
  const copy = copyCheckout("generator");
  const env = environmentOf(copy);
  const folders = kinds.map((kind) => `packages/trial-${kind}`);
  const bin = (name) => path.join(copy, "node_modules/.bin", name);
  const run = (program, args, more) =>
    output(program, args, { cwd: copy, env: { ...env, ...more } });
  const node = (script, ...args) => run(process.execPath, [path.join(copy, script), ...args]);
  const turbo = (tasks, packages, more) =>
    run(bin("turbo"), ["run", ...tasks, ...packages.map((name) => `--filter=./${name}`)], more);

  // The formatters and the length of lines look at what git knows or would add.
  await run("git", ["init", "--quiet"]);
  for (const kind of kinds) {
    await report.check(`npm run new-kernel -- trial-${kind} --kind ${kind}`, () =>
      run("npm", ["run", "new-kernel", "--", `trial-${kind}`, "--kind", kind]),
    );
  }
  await report.check("lint with the new packages", () =>
    node("tooling/scripts/bootstrap.mjs", "lint"),
  );
  await report.check("what the new packages stand on", () =>
    turbo(["build", "build:emulated"], ["packages/testing", "packages/runtime"]),
  );
  await report.check("build and types of the new packages", () =>
    turbo(["build:native", "build:ts", "typecheck"], folders, oneArchitecture),
  );
  const options = { cwd: copy, env };
  await report.tests("tests of the new packages", bin("vitest"), ["run", ...folders], options);
  await report.check("emulated suites and mutations of the new packages", () =>
    node("tooling/scripts/mutate.mjs", ...folders),
  );
  for (const folder of folders) {
    await report.check(`addon of ${folder}`, () => {
      const manifest = readJson(path.join(copy, folder, "package.json"));
      const problems = checkAddon(path.join(copy, folder), manifest);
      if (problems.length > 0) throw new Error(problems.join("\n"));
    });
  }
  fs.rmSync(copy, { recursive: true, force: true });
}

/** This checkout's cache, wherever it is, and the copy's programs. */
function environmentOf(copy) {
  const bins = ["node_modules/.bin", ".tools/node_modules/.bin"];
  return {
    ...process.env,
    ...hashedVariables,
    TURBO_CACHE_DIR: path.resolve(repoRoot, process.env.TURBO_CACHE_DIR ?? ".turbo/cache"),
    PATH: [...bins.map((name) => path.join(copy, name)), process.env.PATH].join(path.delimiter),
  };
}
