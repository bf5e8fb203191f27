// `node build.mjs library` builds the library that emulated addons need, `node build.mjs planted`
// the program of planted faults, in every build.
import path from "node:path";
import {
  buildWithCMake,
  emulatedVariables,
  emulatorFolder,
  emulatorLibrary,
  instrumented,
  libraryName,
  stageFiles,
  stagingFolder,
} from "../../scripts/emulated.mjs";
import { Failure, runMain } from "../../scripts/lib.mjs";

const targets = {
  library() {
    const folder = path.join(emulatorFolder, "build");
    buildWithCMake(emulatorFolder, folder, {});
    stageFiles([path.join(folder, libraryName)], path.dirname(emulatorLibrary));
  },
  planted() {
    for (const build of ["plain", ...instrumented]) {
      const folder = path.join(emulatorFolder, "build-emulated", build);
      buildWithCMake(path.join(emulatorFolder, "test"), folder, emulatedVariables(build));
      const staged = stagingFolder(emulatorFolder, build);
      stageFiles([emulatorLibrary, path.join(folder, "planted")], staged);
    }
  },
};

runMain(() => {
  const target = targets[process.argv[2]];
  if (!target) throw new Failure(`expected one of ${Object.keys(targets)}, got ${process.argv[2]}`);
  target();
});
