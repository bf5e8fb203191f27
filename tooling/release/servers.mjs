// Servers on the loopback for rehearsals: installed when first needed, started on a free port, and
// stopped with the program that started them.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { output } from "../ci/report.mjs";
import { readJson, repoRoot } from "../scripts/lib.mjs";

const folder = path.join(repoRoot, "tooling/release/servers");
const pnpm = path.join(repoRoot, ".tools/node_modules/pnpm/bin/pnpm.cjs");
const startMilliseconds = 60_000;

/** The path of a server's program, installed from the servers' own lockfile. */
export async function serverProgram(name) {
  const install = ["--dir", folder, "install", "--frozen-lockfile", "--reporter=append-only"];
  await output(process.execPath, [pnpm, ...install]);
  const manifest = createRequire(path.join(folder, "package.json")).resolve(`${name}/package.json`);
  const { bin } = readJson(manifest);
  return path.join(path.dirname(manifest), typeof bin === "string" ? bin : bin[name]);
}

/** A port that nobody listened on a moment ago. */
export async function freePort() {
  const server = net.createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Resolves once the address answers; rejects with what the server printed if it ends before. */
export async function startServer(program, args, { address, env, log }) {
  const out = fs.openSync(log, "w");
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ["ignore", out, out] });
  fs.closeSync(out);
  const stop = () => child.kill();
  process.once("exit", stop);
  const ended = new Promise((resolve) => child.once("close", resolve));
  for (const deadline = Date.now() + startMilliseconds; ; await sleep(100)) {
    const answer = await fetch(address).catch(() => null);
    if (answer?.ok) break;
    if (child.exitCode === null && Date.now() < deadline) continue;
    stop();
    throw new Error(`${path.basename(program)} did not start\n${fs.readFileSync(log, "utf8")}`);
  }
  return async () => {
    process.off("exit", stop);
    stop();
    await ended;
  };
}
