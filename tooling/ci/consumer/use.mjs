// Runs the compiled examples of the packages that are named, in each way that a program may load
// them: imported, in a worker, and required.
import { strict as assert } from "node:assert";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { Worker } from "node:worker_threads";

const require = createRequire(import.meta.url);
const folder = new URL("compiled/", import.meta.url);

for (const name of process.argv.slice(2)) {
  const file = readdirSync(folder).find((each) => each === `${name.split("/").at(-1)}.js`);
  assert.ok(file, `there is no example of ${name}`);
  const url = new URL(file, folder);
  await import(url);
  await new Promise((resolve, reject) => {
    const worker = new Worker(url);
    worker.on("error", reject);
    worker.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}`))));
  });
  assert.deepEqual(Object.keys(require(name)), Object.keys(await import(name)));
  console.log(`used ${name}`);
}
