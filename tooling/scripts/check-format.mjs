// clang-format over every C++ and CUDA file that git knows or would add: checks, or with --write
// formats. The npm package's binaries are run directly, so neither its install script nor its
// wrapper matters.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Failure, platformFolder, repoRoot, run, runMain, sourceFiles } from "./lib.mjs";

runMain(() => {
  const files = sourceFiles(["*.h", "*.cc", "*.cu", "*.cuh"]);
  if (files.length === 0) return;
  const mode = process.argv.includes("--write") ? ["-i"] : ["--dry-run", "--Werror"];
  run(clangFormat(), [...mode, ...files], { cwd: repoRoot });
  console.log(`clang-format: ${files.length} files`);
});

function clangFormat() {
  const manifest = createRequire(import.meta.url).resolve("clang-format-node/package.json");
  const file = path.join(path.dirname(manifest), "bin", `cfn-${platformFolder}`, "clang-format");
  if (!fs.existsSync(file))
    throw new Failure(`clang-format-node has no binary for ${platformFolder}`);
  fs.chmodSync(file, 0o755); // the package's install script would do this
  return file;
}
