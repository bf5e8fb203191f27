// Releases the checkout as it stands to a registry on this machine, installs kernels from it as a
// user would, and runs the example of each README:
//   npm run rehearse -- [<package's folder> ...] [--keep]      default: every kernel
// --keep leaves the registry running for installs of one's own, until it is interrupted.
import path from "node:path";
import { parseArgs } from "node:util";
import { Failure, runMain } from "../scripts/lib.mjs";
import { startRegistry } from "./registry.mjs";
import { kernels, smoke } from "./smoke.mjs";
import { Workspace } from "./workspace.mjs";

runMain(async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { keep: { type: "boolean", default: false } },
  });
  const names = positionals.map((folder) => `@warpwright/${path.basename(folder)}`);
  const known = kernels().map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Failure(`there is no kernel ${unknown} to rehearse`);

  console.log("starting a registry");
  const registry = await startRegistry();
  const workspace = new Workspace(registry.env);
  try {
    await workspace.version();
    console.log("publishing");
    await workspace.release();
    for (const manifest of kernels(workspace.root)) {
      const { name, version } = manifest;
      if (names.length > 0 && !names.includes(name)) continue;
      console.log(`${name}@${version}: ${await smoke("npm", manifest, registry.env)}`);
    }
    if (values.keep) await interrupted(registry);
  } finally {
    workspace.remove();
    await registry.stop();
  }
});

async function interrupted({ url }) {
  console.log(`npm install --registry ${url} <package>      (Ctrl-C stops the registry)`);
  const alive = setInterval(() => {}, 60_000);
  await new Promise((resolve) => process.once("SIGINT", resolve));
  clearInterval(alive);
}
