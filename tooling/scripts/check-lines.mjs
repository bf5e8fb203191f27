// No line of source is longer than 100 columns, and no file than 300 lines: the formatters leave
// comments and strings alone. Prose, data and generated files are of other kinds than these.
import fs from "node:fs";
import path from "node:path";
import { Failure, isMain, repoRoot, runMain, sourceFiles } from "./lib.mjs";

const maxColumns = 100;
const maxLines = 300;
const patterns = [
  ...["*.ts", "*.mjs", "*.cjs", "*.cc", "*.cu", "*.cuh", "*.h"],
  ...["*.cmake", "CMakeLists.txt", "*/CMakeLists.txt", "*.sh", ".ci/run"],
];

/** What is too long in a file, one line each. */
export function lineProblems(name, text) {
  const lines = text.replace(/\n$/, "").split("\n");
  const problems = [];
  for (const [i, line] of lines.entries()) {
    const columns = [...line].length;
    if (columns > maxColumns) problems.push(`${name}:${i + 1} has ${columns} columns`);
  }
  if (lines.length > maxLines) problems.push(`${name} has ${lines.length} lines`);
  return problems;
}

if (isMain(import.meta.url)) {
  runMain(() => {
    const files = sourceFiles(patterns);
    const problems = files.flatMap((name) =>
      lineProblems(name, fs.readFileSync(path.join(repoRoot, name), "utf8")),
    );
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) {
      throw new Failure(`expected at most ${maxColumns} columns and ${maxLines} lines`);
    }
    console.log(`lines: ${files.length} files`);
  });
}
