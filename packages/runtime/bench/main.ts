// npm run bench -- runtime [copies] [safetensors] [--device cpu|cuda:N] [--json FILE]
//   [--gigabytes N] [--path FILE]    of the checkpoint that is written, 2 in the temporary folder
// UV_THREADPOOL_SIZE lets plain reading have as many threads as loadSafetensors.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Device, defaultDevice } from "../dist/index.js";
import { benchCopies } from "./copies.bench.js";
import { benchSafetensors } from "./safetensors.bench.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    device: { type: "string" },
    json: { type: "string" },
    gigabytes: { type: "string", default: "2" },
    path: { type: "string" },
  },
});
const device = (values.device ?? defaultDevice()) as Device;
const benches = {
  copies: () => benchCopies(device),
  safetensors: () =>
    benchSafetensors({ device, gigabytes: Number(values.gigabytes), path: values.path }),
};
const names = positionals.length > 0 ? positionals : Object.keys(benches);
const reports = [];
for (const name of names) {
  if (!Object.hasOwn(benches, name)) throw new Error(`expected copies or safetensors, got ${name}`);
  reports.push(await benches[name as keyof typeof benches]());
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(reports, null, 2)}\n`);
