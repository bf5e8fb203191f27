// Uses the packages as strangers' projects do: installed by name from a registry that has the
// tarballs, with every package manager, run in two versions of Node.js in each way that a program
// can load them, and compiled against by a strict TypeScript that checks our declarations too.
import fs from "node:fs";
import path from "node:path";
import { startRegistry } from "../release/registry.mjs";
import { nativePackages, repoRoot } from "../scripts/lib.mjs";
import { checkBuilding } from "./building.mjs";
import { Consumer, managers, npmCli } from "./managers.mjs";
import { newerNode } from "./newer-node.mjs";
import { output } from "./report.mjs";

const runtime = "@warpwright/runtime";
const tsc = path.join(repoRoot, "node_modules/.bin/tsc");
const nodes = [process.execPath, newerNode];
const native = nativePackages();
const names = native.map(({ manifest }) => manifest.name);
const kernels = names.filter((name) => name !== runtime);
const [npm] = managers;

/** @param files the tarballs' paths by package name */
export async function checkConsumers(report, { files }) {
  const registry = await report.check("a registry has the tarballs", async () => {
    const started = await startRegistry();
    for (const file of files.values()) await publish(file, started);
    return started;
  });
  if (registry === undefined) return;
  const compiled = await checkWithNpm(report, registry, files);
  if (compiled !== undefined) {
    await checkAlone(report, registry, compiled);
    for (const manager of managers.filter(({ peers }) => !peers)) {
      await checkWithPnpm(report, registry, manager, compiled);
    }
    fs.rmSync(compiled, { recursive: true, force: true });
  }
  await registry.stop();
}

function publish(file, { env, url }) {
  const args = [npmCli, "publish", file, "--registry", url, "--provenance=false"];
  return output(process.execPath, args, { env });
}

/** All of them together, compiled against and built; returns a folder of compiled examples. */
async function checkWithNpm(report, registry, files) {
  const consumer = new Consumer(npm, registry);
  for (const each of native) {
    await report.check(`the README of ${each.manifest.name} has an example`, () =>
      writeExample(consumer.folder, each),
    );
  }
  const installed = await report.check(
    `[ND-01] [ND-02] [ND-03] [ND-11] ${npm.name} installs the kernels, scripts off`,
    () => installAll(consumer, kernels),
  );
  let compiled;
  if (installed) {
    for (const project of ["bundler", "node16"]) {
      const args = ["--project", `tsconfig.${project}.json`];
      await report.check(`compile for ${project}`, () => consumer.run(tsc, args));
    }
    compiled = fs.mkdtempSync(path.join(path.dirname(consumer.folder), "warpwright compiled "));
    fs.cpSync(path.join(consumer.folder, "compiled"), compiled, { recursive: true });
    await checkUse(report, npm.name, consumer);
    await report.check(`[ND-25] ${npm.name} ls --omit=optional`, () => consumer.list());
    for (const name of kernels) {
      await report.check(`[ND-12] [ND-23] ${name} elsewhere names packages that exist`, () =>
        checkRefusal(consumer, name, new Set(files.keys())),
      );
    }
    await report.check(`[ND-09] ${npm.name} exec doctor`, () => checkDoctor(consumer));
    await checkBuilding(report, consumer, native);
  }
  consumer.remove();
  return compiled;
}

/** Each kernel in an empty folder brings the runtime. */
async function checkAlone(report, registry, compiled) {
  for (const name of kernels) {
    await report.check(`${npm.name} install ${name} alone`, async () => {
      const consumer = new Consumer(npm, registry);
      fs.cpSync(compiled, path.join(consumer.folder, "compiled"), { recursive: true });
      try {
        await consumer.add(name, "--omit=optional");
        await consumer.run(process.execPath, ["use.mjs", name]);
      } finally {
        consumer.remove();
      }
    });
  }
}

async function checkWithPnpm(report, registry, manager, compiled) {
  const consumer = new Consumer(manager, registry);
  fs.cpSync(compiled, path.join(consumer.folder, "compiled"), { recursive: true });
  const installed = await report.check(
    `[ND-11] ${manager.name} adds the kernels, and their runtime for them alone`,
    async () => {
      await installAll(consumer, kernels);
      for (const name of kernels)
        await consumer.run(process.execPath, ["peer.mjs", name, "hidden"]);
      return true;
    },
  );
  if (installed) {
    await report.check(`${manager.name} adds the runtime for the program as well`, async () => {
      await consumer.add(runtime);
      for (const name of kernels) {
        await consumer.run(process.execPath, ["peer.mjs", name, "visible"]);
      }
    });
    await checkUse(report, manager.name, consumer);
    await report.check(`[ND-09] ${manager.name} exec warpwright doctor`, () =>
      checkDoctor(consumer),
    );
    await report.check(`[ND-25] ${manager.name} ls --no-optional`, () => consumer.list());
  }
  consumer.remove();
}

async function installAll(consumer, wanted) {
  await consumer.add(...wanted);
  if (consumer.ranNvcc) throw new Error("installing ran nvcc");
  return true;
}

async function checkUse(report, manager, consumer) {
  for (const node of nodes) {
    const version = (await output(node, ["--version"])).trim();
    await report.check(`[ND-11] ${manager}, Node.js ${version}: import, worker, require`, () =>
      consumer.run(node, ["use.mjs", ...names]),
    );
  }
}

/** A README's first example, and a module that imports all of the package's declarations. */
function writeExample(folder, { folder: source, manifest }) {
  const name = path.join(folder, "examples", path.basename(source));
  const entries = Object.entries(manifest.exports).filter(([, target]) => target.types);
  const imports = entries.map(([entry], i) => {
    const specifier = `${manifest.name}${entry.slice(1)}`;
    return `import * as entry${i} from "${specifier}";\nexport { entry${i} };\n`;
  });
  fs.writeFileSync(`${name}-entries.ts`, imports.join(""));
  const readme = fs.readFileSync(path.join(repoRoot, source, "README.md"), "utf8");
  const example = /```ts\n(.*?)```/s.exec(readme)?.[1];
  if (example === undefined) throw new Error("there is none");
  fs.writeFileSync(`${name}.ts`, example);
}

async function checkRefusal(consumer, name, published) {
  const platform = `${process.platform}-${process.arch}`;
  const addon = path.join(consumer.folder, "node_modules", runtime, "prebuilds", platform);
  const env = { WARPWRIGHT_RUNTIME_NATIVE_PATH: path.join(addon, "runtime.node") };
  const text = await consumer.run(process.execPath, ["refusal.mjs", name], env);
  const line = text.split("\n").find((each) => each.startsWith("ERR_LOAD"));
  if (!line?.includes(`${name} has no prebuilt addon for sunos-${process.arch}`)) {
    throw new Error(`expected a refusal, got ${text}`);
  }
  const named = line.match(/@[\w-]+\/[\w-]+/g);
  const unknown = named.filter((each) => !published.has(each));
  if (unknown.length > 0) throw new Error(`names ${unknown.join(", ")}`);
}

async function checkDoctor(consumer) {
  const text = await consumer.warpwright(["doctor", "--json"]);
  // pnpm 12 says on standard error, which is in the text too, that it looked at the lockfile.
  const { usable, packages } = JSON.parse(text.slice(text.indexOf("{\n")));
  const found = packages.map(({ name }) => name).join(", ");
  if (!usable || found !== names.join(", ")) throw new Error(`usable: ${usable}, found ${found}`);
}
