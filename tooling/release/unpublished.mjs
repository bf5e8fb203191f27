// Prints the packages whose versions the registry does not have, as name@version; nothing if it has
// all of them.
import { capture, isMain, workspacePackages } from "../scripts/lib.mjs";

export function unpublishedPackages(env = process.env) {
  return workspacePackages()
    .filter(({ manifest }) => !manifest.private)
    .map(({ manifest }) => `${manifest.name}@${manifest.version}`)
    .filter((each) => !capture("npm", ["view", each, "version"], { env }));
}

if (isMain(import.meta.url)) console.log(unpublishedPackages().join(" "));
