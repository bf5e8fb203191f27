// The workspace that a rehearsal changes and releases: the files of the working tree with what was
// built from them, and a history that begins here.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { copyCheckout } from "../ci/checkout.mjs";
import { output, runProgram } from "../ci/report.mjs";
import {
  nativePackages,
  platformFolder,
  readJson,
  repoRoot,
  workspacePackages,
  writeJson,
} from "../scripts/lib.mjs";

export class Workspace {
  root = copyCheckout("release");
  #env;
  #changesets = 0;

  /** @param env makes npm and pnpm publish to the rehearsal's registry */
  constructor(env) {
    this.#env = {
      ...env,
      CUDACXX: "none", // the one kernel that is compiled, quickly
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "warpwright/rehearsal",
    };
    for (const { folder } of this.packages()) {
      for (const built of ["dist", "prebuilds"].map((name) => path.join(folder, name))) {
        const source = path.join(repoRoot, built);
        if (fs.existsSync(source)) {
          fs.cpSync(source, path.join(this.root, built), { recursive: true });
        }
      }
    }
    this.git("init", "--quiet", "--initial-branch=main");
    this.git("config", "user.name", "rehearsal");
    this.git("config", "user.email", "rehearsal@localhost");
    this.commit("Start");
  }

  /** The published ones. */
  packages() {
    return workspacePackages(this.root).filter(({ manifest }) => !manifest.private);
  }

  /** Name to version. */
  versions() {
    return Object.fromEntries(this.packages().map(({ manifest: m }) => [m.name, m.version]));
  }

  git(...args) {
    return execFileSync("git", args, { cwd: this.root, encoding: "utf8" }).trim();
  }

  commit(message) {
    this.git("add", "--all");
    this.git("commit", "--quiet", `--message=${message}`);
  }

  append(file, text) {
    fs.appendFileSync(path.join(this.root, file), text);
  }

  addChangeset(bump, names, line) {
    const head = names.map((name) => `"${name}": ${bump}\n`).join("");
    this.#changesets += 1;
    const file = `.changeset/rehearsed-${this.#changesets}.md`;
    this.append(file, `---\n${head}---\n\n${line}\n`);
    this.commit(line);
  }

  /** `npm run version` and its commit; then the addons say the new versions, without a compiler. */
  async version() {
    await this.#task("version");
    this.commit("Version packages");
    for (const { folder, manifest } of nativePackages(this.root)) {
      const file = path.join(this.root, folder, "prebuilds", platformFolder, "build-info.json");
      writeJson(file, { ...readJson(file), version: manifest.version });
    }
  }

  /** The publishing half of `npm run release`; returns what it printed. */
  async release() {
    const text = await this.#task("release", "--publish", "--rehearsal");
    this.git("checkout", "--quiet", "--", "."); // manifests then name a repository
    return text;
  }

  /** What the registry lacks, as release.yml asks for it. */
  async unpublished() {
    const script = path.join(this.root, "tooling/release/unpublished.mjs");
    const text = await output(process.execPath, [script], { cwd: this.root, env: this.#env });
    return text.split(/\s+/).filter(Boolean);
  }

  /** Output of a task that has to fail, with a changed environment if given. */
  async refusal([name, ...args], env = {}) {
    const { code, output: text } = await runProgram(process.execPath, this.#command(name, args), {
      cwd: this.root,
      env: { ...this.#env, ...env },
    });
    if (code === 0) throw new Error(`npm run ${name} ${args.join(" ")} went through\n${text}`);
    return text;
  }

  build(folder) {
    const script = path.join(this.root, "tooling/scripts/build-native.mjs");
    return output(process.execPath, [script], {
      cwd: path.join(this.root, folder),
      env: this.#env,
    });
  }

  /** A changelog's newest section, without its heading. */
  changes(folder) {
    const text = fs.readFileSync(path.join(this.root, folder, "CHANGELOG.md"), "utf8");
    return text.split(/^## .*$/m)[1].trim();
  }

  remove() {
    fs.rmSync(this.root, { recursive: true, force: true });
  }

  #task(name, ...args) {
    return output(process.execPath, this.#command(name, args), { cwd: this.root, env: this.#env });
  }

  #command(name, args) {
    return [path.join(this.root, "tooling/scripts/bootstrap.mjs"), name, ...args];
  }
}
