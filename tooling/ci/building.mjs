// npx @warpwright/runtime build, in the folder of a user who has installed the packages.
import fs from "node:fs";
import path from "node:path";
import { findNvcc, platformFolder, readJson, repoRoot } from "../scripts/lib.mjs";

const offline = { npm_config_registry: "http://127.0.0.1:9" };

/** @param native the workspace's packages with addons, all of which the user has */
export async function checkBuilding(report, consumer, native) {
  const user = new Builder(consumer);
  const [small] = [...native].sort((a, b) => sourceBytes(a) - sourceBytes(b));
  const { name } = small.manifest;

  await report.check("build without the headers says where they come from", async () => {
    const text = await user.refused("build", name, "--cpu");
    for (const part of [`npm install --save-dev @warpwright/headers@`, "or give --yes"]) {
      if (!text.includes(part)) throw new Error(`expected "${part}" in ${text}`);
    }
  });
  const fetched = await report.check(`build ${name} with the headers fetched`, async () => {
    await user.run({}, "build", name, "--cpu", "--yes");
    return user.addon(small);
  });
  if (fetched === undefined) return;
  await report.check(`build every package in another folder, offline; ${name} again`, async () => {
    await user.inFolder("another cache").run(offline, "build", "--cpu");
    for (const each of native) {
      const { cuda, version } = user.buildInfo(each);
      if (cuda || version !== each.manifest.version) throw new Error(`not ${each.manifest.name}`);
    }
    expectSame(fetched, user.addon(small));
    await consumer.run(process.execPath, ["use.mjs", ...native.map((each) => each.manifest.name)]);
  });
  if (findNvcc() === null) return console.log("nvcc not found: no build with CUDA");
  await report.check(`${name}'s bits with CUDA are the same a second time`, async () => {
    const CUDACXX = findNvcc();
    const build = async () => {
      await user.run({ ...offline, CUDACXX }, "build", name, "--archs", "80-real");
      return user.addon(small);
    };
    expectSame(await build(), await build());
  });
}

class Builder {
  #consumer;
  #cache;

  constructor(consumer, cache = path.join(consumer.folder, "cache")) {
    this.#consumer = consumer;
    this.#cache = cache;
  }

  run(env, ...args) {
    return this.#consumer.warpwright(args, { XDG_CACHE_HOME: this.#cache, ...env });
  }

  async refused(...args) {
    const text = await this.run({}, ...args).catch(({ message }) => message);
    if (!text.startsWith("exit code 1\n")) throw new Error(`expected exit code 1, got ${text}`);
    return text;
  }

  /** The same user, whose builds and headers are in another folder. */
  inFolder(name) {
    const cache = path.join(this.#consumer.folder, name);
    fs.cpSync(this.#cache, cache, { recursive: true });
    return new Builder(this.#consumer, cache);
  }

  addon(built) {
    const name = path.basename(built.folder);
    return fs.readFileSync(path.join(this.#staged(built), `${name}.node`));
  }

  buildInfo(built) {
    return readJson(path.join(this.#staged(built), "build-info.json"));
  }

  #staged({ manifest }) {
    const folder = path.join(this.#consumer.folder, "node_modules", manifest.name);
    return path.join(folder, "prebuilds", platformFolder);
  }
}

function sourceBytes({ folder }) {
  const sources = path.join(repoRoot, folder, "csrc");
  return fs
    .readdirSync(sources)
    .reduce((sum, name) => sum + fs.statSync(path.join(sources, name)).size, 0);
}

function expectSame(first, second) {
  if (!first.equals(second)) throw new Error("the addons differ");
}
