// The files of a new package: those of all kinds, and those of its own kind.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "../scripts/lib.mjs";
import { renamed, spellingsOf } from "./names.mjs";

const folder = fileURLToPath(new URL("templates", import.meta.url));
const common = "common";

/** elementwise: out = f(x). gated: out = f(gate, up). row-wise: out = f(row). */
export const kinds = fs
  .readdirSync(folder)
  .filter((name) => name !== common)
  .sort();

/** Throws a Failure, one sentence, unless there are templates of that kind. */
export function checkKind(kind) {
  if (kinds.includes(kind)) return;
  throw new Failure(`expected --kind ${kinds.join(", ")}, got ${kind ?? "none"}`);
}

/**
 * The package's files, as a Map from their path in it to their text; a kind's own file stands in
 * for the one of that name which all kinds have.
 */
export function packageFiles(name, kind) {
  const files = new Map();
  for (const source of [common, kind]) {
    for (const file of listFiles(path.join(folder, source))) {
      const text = fs.readFileSync(path.join(folder, source, file), "utf8");
      files.set(renamed(file, name), renamed(text, name));
    }
  }
  return files;
}

function listFiles(root) {
  return fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}

/** The functions that a package exports, in the order of its source. */
export function functionsOf(files) {
  return [...files.get("src/index.ts").matchAll(/^export function (\w+)/gm)].map(
    ([, name]) => name,
  );
}

/** Throws a Failure if the kernel's function would hide something that its files use. */
export function checkMeaning(name, kind) {
  const { camel } = spellingsOf(name);
  const template = packageFiles("new-kernel", kind);
  const sources = [...template].filter(([file]) => file.endsWith(".ts"));
  const code = sources.map(([, text]) => withoutText(text)).join("\n");
  if (!new RegExp(`\\b${camel}\\b`).test(code)) return;
  throw new Failure(`a ${kind} package uses ${camel} for something else; expected another name`);
}

/** Without comments and strings; what stands in `${}` is lost with its string. */
function withoutText(source) {
  return source.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*|"[^"\n]*"|'[^'\n]*'|`[^`]*`/gs, " ");
}
