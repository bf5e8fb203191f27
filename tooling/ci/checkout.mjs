// A copy of the working tree in a folder of its own, for what changes files or builds from nothing.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { repoRoot, sourceFiles } from "../scripts/lib.mjs";

/** The files that git tracks or would add, and the fetched pnpm; returns the new folder. */
export function copyCheckout(name) {
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), `warpwright ${name} `));
  for (const file of [...sourceFiles(["."]), ".tools"]) {
    const options = { recursive: true, verbatimSymlinks: true };
    fs.cpSync(path.join(repoRoot, file), path.join(copy, file), options);
  }
  return copy;
}
