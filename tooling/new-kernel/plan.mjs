// What a new kernel changes in the workspace, before anything is written.
import fs from "node:fs";
import path from "node:path";
import { Failure, workspacePackages } from "../scripts/lib.mjs";
import { checkName } from "./names.mjs";
import { checkKind, checkMeaning, functionsOf, packageFiles } from "./templates.mjs";

const readme = "README.md";
const scope = "@warpwright";

/**
 * Returns all files to write, as a Map from their path to their text: the package's, its changeset,
 * and the README with its row. Throws a Failure, and has written nothing, if a kernel of that name
 * or kind cannot be.
 */
export function planKernel(root, name, kind) {
  checkName(name);
  checkKind(kind);
  checkMeaning(name, kind);
  const taken = workspacePackages(root).find(
    ({ folder, manifest }) => manifest.name === `${scope}/${name}` || folder === `packages/${name}`,
  );
  if (taken !== undefined) throw new Failure(`there is a package ${name} already: ${taken.folder}`);

  const files = packageFiles(name, kind);
  const changeset = `.changeset/${name}.md`;
  const written = new Map([...files].map(([file, text]) => [`packages/${name}/${file}`, text]));
  written.set(changeset, changesetText(name));
  for (const file of [`packages/${name}`, changeset]) {
    if (fs.existsSync(path.join(root, file))) {
      throw new Failure(`${file} is there already, and is not overwritten`);
    }
  }
  const before = fs.readFileSync(path.join(root, readme), "utf8");
  return written.set(readme, withRow(before, name, functionsOf(files)));
}

function changesetText(name) {
  return `---\n"${scope}/${name}": minor\n---\n\nAdd ${name} on CPU and CUDA\n`;
}

/** The README with one more row at the end of its table of kernels. */
function withRow(text, name, functions) {
  const rows = [...text.matchAll(/^\| \[`@warpwright\/.*\n/gm)];
  const last = rows.at(-1);
  if (last === undefined) throw new Failure(`${readme} has no table of kernels`);
  const end = last.index + last[0].length;
  const list = functions.map((each) => `\`${each}\``).join(", ");
  const cells = [`[\`${scope}/${name}\`](packages/${name})`, list, "yes", "sm_80 and newer"];
  return `${text.slice(0, end)}| ${cells.join(" | ")} |\n${text.slice(end)}`;
}
