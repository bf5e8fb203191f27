// The package managers that users have, in pinned versions, and the folders of users.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { readJson, repoRoot } from "../scripts/lib.mjs";
import { output } from "./report.mjs";

const modules = path.join(repoRoot, "tooling/ci/node_modules");
const fixture = path.join(repoRoot, "tooling/ci/consumer");
const pnpm10 = path.join(repoRoot, ".tools/node_modules/pnpm");
const pnpm12 = path.join(modules, "@pnpm/exe.linux-x64");
const npm11 = path.join(modules, "npm");
export const npmCli = path.join(npm11, "bin/npm-cli.js");

const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];

/** `peers`: whether a program sees the peers of what it installed; `env` names pnpm's store. */
export const managers = [
  {
    name: `npm ${versionOf(npm11)}`,
    peers: true,
    command: [process.execPath, npmCli],
    add: ["install", "--ignore-scripts", ...quiet],
    list: ["ls", "--all", "--omit=optional"],
    warpwright: ["exec", "--", "@warpwright/runtime"],
  },
  {
    name: `pnpm ${versionOf(pnpm10)}`,
    peers: false,
    command: [process.execPath, path.join(pnpm10, "bin/pnpm.cjs")],
    env: (store) => ({ npm_config_store_dir: store }),
    add: ["add"],
    list: ["ls", "--no-optional"],
    warpwright: ["exec", "warpwright"],
  },
  {
    name: `pnpm ${versionOf(pnpm12)}`,
    peers: false,
    command: [path.join(pnpm12, "pnpm")],
    env: (store) => ({ pnpm_config_store_dir: store }),
    add: ["add"],
    list: ["ls", "--no-optional"],
    warpwright: ["exec", "warpwright"],
  },
];

function versionOf(folder) {
  return readJson(path.join(folder, "package.json")).version;
}

/** A user's folder, whose name has what paths may have, and which is registry's alone. */
export class Consumer {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright consumer ü "));
  #manager;
  #env;

  constructor(manager, registry) {
    this.#manager = manager;
    fs.cpSync(fixture, this.folder, { recursive: true });
    fs.writeFileSync(path.join(this.folder, ".npmrc"), `registry=${registry.url}\n`);
    this.#env = {
      ...registry.env,
      ...this.#plantNvcc(),
      ...manager.env?.(path.join(path.dirname(registry.npmrc), "pnpm-store")),
      // Nothing may come from anywhere but the registry, which is on the loopback.
      https_proxy: "http://127.0.0.1:9",
      no_proxy: "127.0.0.1",
    };
  }

  add(...names) {
    return this.#manage([...this.#manager.add, ...names]);
  }

  list() {
    return this.#manage(this.#manager.list);
  }

  /** The runtime's command, by the manager's npx. */
  warpwright(args, env) {
    return this.#manage([...this.#manager.warpwright, ...args], env);
  }

  #manage(args, env) {
    const [program, ...first] = this.#manager.command;
    return this.run(program, [...first, ...args], env);
  }

  run(program, args, env = {}) {
    return output(program, args, { cwd: this.folder, env: { ...this.#env, ...env } });
  }

  /** An nvcc that leaves a trace if it is asked for its version, and is none that exists. */
  #plantNvcc() {
    const bin = path.join(this.folder, "bin");
    const script = `#!/bin/sh\ntouch "${this.folder}/nvcc-was-run"\necho "release 99.garbage"\n`;
    fs.mkdirSync(bin);
    fs.writeFileSync(path.join(bin, "nvcc"), script, { mode: 0o755 });
    return { PATH: `${bin}${path.delimiter}${process.env.PATH}` };
  }

  get ranNvcc() {
    return fs.existsSync(path.join(this.folder, "nvcc-was-run"));
  }

  remove() {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}
