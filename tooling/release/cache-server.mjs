// A server of turbo's remote cache on the loopback, as a team would run one.
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { freePort, serverProgram, startServer } from "./servers.mjs";

const team = "team_warpwright";

/**
 * Resolves with { env, artefact, stop }: `env` makes turbo use the server, with a key to sign by,
 * and `artefact` is the file of a task's hash.
 * @param folder where the server keeps its files
 */
export async function startCacheServer(folder) {
  const program = await serverProgram("turborepo-remote-cache");
  const port = await freePort();
  const [token, key] = [1, 2].map(() => randomBytes(32).toString("hex"));
  const api = `http://127.0.0.1:${port}`;
  fs.mkdirSync(folder, { recursive: true });
  const stop = await startServer(program, [], {
    address: `${api}/v8/artifacts/status`,
    env: {
      ...process.env,
      HOST: "127.0.0.1",
      PORT: String(port),
      STORAGE_PROVIDER: "local",
      STORAGE_PATH: folder,
      STORAGE_PATH_USE_TMP_FOLDER: "false",
      TURBO_TOKEN: token,
      TURBO_REMOTE_CACHE_SIGNATURE_KEY: key,
    },
    log: path.join(folder, "log"),
  });
  const env = {
    TURBO_API: api,
    TURBO_TEAM: team,
    TURBO_TOKEN: token,
    TURBO_REMOTE_CACHE_SIGNATURE_KEY: key,
  };
  return { env, artefact: (hash) => path.join(folder, team, hash), stop };
}
