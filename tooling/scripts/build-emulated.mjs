// build:emulated of every package with CUDA sources: its addon for the emulator, in the builds that
// are named, else in the instrumented ones. Run in the package's folder:
//   node ../../tooling/scripts/build-emulated.mjs [plain|check|asan|gdb ...]
import path from "node:path";
import {
  buildWithCMake,
  emulatedBuilds,
  emulatedVariables,
  emulatorLibrary,
  instrumented,
  stageFiles,
  stagingFolder,
} from "./emulated.mjs";
import { addonName, Failure, platformFolder, readJson, runMain } from "./lib.mjs";

runMain(() => {
  const addon = `${addonName(readJson("package.json"))}.node`;
  const builds = process.argv.length > 2 ? process.argv.slice(2) : instrumented;
  for (const build of builds) {
    if (!(build in emulatedBuilds)) {
      throw new Failure(`expected a build of ${Object.keys(emulatedBuilds)}, got ${build}`);
    }
    const folder = path.join("build-emulated", build);
    buildWithCMake(".", folder, emulatedVariables(build));
    // The library first: an addon must not stand there without it.
    const staged = path.join(stagingFolder(".", build), platformFolder);
    stageFiles([emulatorLibrary, path.join(folder, "Release", addon)], staged);
  }
});
