// Compiler launcher of emulated addons: `node compile.mjs <compiler> <arguments>`. A .cu file is
// preprocessed, its __shared__ variables are moved, and the result is compiled, all with the
// arguments that CMake gave; other files are compiled as ever.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { rewriteShared } from "./rewrite.mjs";

function run(compiler, args) {
  const { status, error } = spawnSync(compiler, args, { stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function compileCuda(compiler, args, source) {
  const output = args[args.indexOf("-o") + 1];
  const expanded = `${output}.expanded.ii`;
  const rewritten = `${output}.ii`;
  const common = args.filter((arg) => arg !== "-c" && arg !== source);
  const preprocess = common.map((arg) => (arg === output ? expanded : arg));
  // -MT names the object as CMake does; without it the dependencies would be the .ii file's.
  if (preprocess.includes("-MT")) preprocess[preprocess.indexOf("-MT") + 1] = output;
  run(compiler, [...preprocess, "-E", source]);
  fs.writeFileSync(rewritten, rewriteShared(fs.readFileSync(expanded, "utf8"), source));
  fs.rmSync(expanded);
  run(compiler, [...withoutDependencies(common), "-fpreprocessed", "-c", rewritten]);
}

function withoutDependencies(args) {
  const withValue = ["-MF", "-MT", "-MQ"];
  return args.filter(
    (arg, i) => !["-MD", "-MMD", ...withValue].includes(arg) && !withValue.includes(args[i - 1]),
  );
}

const [compiler, ...args] = process.argv.slice(2);
const source = args.includes("-c") ? args.find((arg) => arg.endsWith(".cu")) : undefined;
if (source === undefined) run(compiler, args);
else compileCuda(compiler, args, source);
