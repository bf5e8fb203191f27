// An npm registry on the loopback with one user, for rehearsing a release and for installing as a
// user would. Our packages are its own; what they depend on comes from the configured registry.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { capture } from "../scripts/lib.mjs";
import { freePort, serverProgram, startServer } from "./servers.mjs";

/**
 * Resolves with { url, npmrc, env, stop }: `npmrc` holds the user's token, and `env` makes npm and
 * pnpm use the registry and keep their cache of it beside it. `stop` removes everything.
 * @example
 * const registry = await startRegistry();
 * await output("npm", ["install", "@warpwright/rmsnorm"], { cwd, env: registry.env });
 * await registry.stop();
 */
export async function startRegistry() {
  const program = await serverProgram("verdaccio");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "warpwright registry "));
  const url = `http://127.0.0.1:${await freePort()}/`;
  const config = path.join(folder, "config.yaml");
  fs.writeFileSync(config, JSON.stringify(configuration(folder, url), null, 2)); // JSON is YAML
  const halt = await startServer(program, ["--config", config], {
    address: `${url}-/ping`,
    env: process.env,
    log: path.join(folder, "log"),
  });
  const npmrc = path.join(folder, "npmrc");
  fs.writeFileSync(npmrc, `${url.replace("http:", "")}:_authToken=${await addUser(url)}\n`);
  return {
    url,
    npmrc,
    env: {
      ...process.env,
      npm_config_registry: url,
      NPM_CONFIG_USERCONFIG: npmrc,
      npm_config_cache: path.join(folder, "npm-cache"),
      npm_config_update_notifier: "false",
    },
    async stop() {
      await halt();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder, url) {
  const upstream = capture("npm", ["config", "get", "registry"]) ?? "https://registry.npmjs.org/";
  return {
    storage: path.join(folder, "storage"),
    listen: url,
    auth: { htpasswd: { file: path.join(folder, "htpasswd") } },
    uplinks: { upstream: { url: upstream } },
    packages: {
      "@warpwright/*": { access: "$all", publish: "$authenticated" },
      "**": { access: "$all", proxy: "upstream" },
    },
    web: { enable: false },
    max_body_size: "300mb",
    log: { type: "stdout", format: "pretty", level: "warn" },
  };
}

async function addUser(url) {
  const response = await fetch(`${url}-/user/org.couchdb.user:ci`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "ci", password: "loopback alone" }),
  });
  if (!response.ok) throw new Error(`the registry refused the user: ${response.status}`);
  return (await response.json()).token;
}
