// The kernels on few rows, in CUDA graphs; README.md says how.
import fs from "node:fs";
import { parseArgs } from "node:util";
import { geglu } from "../../../packages/geglu/dist/index.js";
import { gelu } from "../../../packages/gelu/dist/index.js";
import { addLayernorm, layernorm } from "../../../packages/layernorm/dist/index.js";
import { addRmsnorm, rmsnorm } from "../../../packages/rmsnorm/dist/index.js";
import { pickRowsPerCta, rmsnormRhtAmax } from "../../../packages/rmsnorm-rht-amax/dist/index.js";
import { ropeQK, ropeTables } from "../../../packages/rope/dist/index.js";
import { CudaGraph, CudaStream, empty, randn } from "../../../packages/runtime/dist/index.js";
import { swiglu } from "../../../packages/swiglu/dist/index.js";

const calls = 200;
const launches = 15;
const columns = 4096;

const { values: flags } = parseArgs({
  options: { device: { type: "string", default: "cuda:0" }, json: { type: "string" } },
});
const { device } = flags;
const bf16 = { dtype: "bfloat16", device };

/** The kernels on `rows` tokens, each as a function without arguments. */
function kernels(rows) {
  const [x, residual] = [1, 2].map((seed) => randn([rows, columns], { seed, ...bf16 }));
  const [weight, bias] = [3, 4].map((seed) => randn([columns], { seed, ...bf16 }));
  const packed = randn([rows, 2 * columns], { seed: 5, ...bf16 });
  const [out, residualOut] = [0, 1].map(() => empty([rows, columns], bf16));
  const q = randn([rows, 1, 32, 128], { seed: 6, ...bf16 });
  const k = randn([rows, 1, 8, 128], { seed: 7, ...bf16 });
  const [qOut, kOut] = [q, k].map(({ shape }) => empty(shape, bf16));
  const { cos, sin } = ropeTables({ dim: 128, maxPositions: 16, device });
  const amax = empty([rows / pickRowsPerCta(rows)], { device });
  const added = { out, residualOut };
  return {
    copyFrom: () => out.copyFrom(x),
    rmsnorm: () => rmsnorm(x, weight, { out }),
    addRmsnorm: () => addRmsnorm(x, residual, weight, added),
    layernorm: () => layernorm(x, weight, bias, { out }),
    addLayernorm: () => addLayernorm(x, residual, weight, bias, added),
    "rmsnorm-rht-amax": () => rmsnormRhtAmax(x, weight, { out, amax }),
    gelu: () => gelu(x, { out }),
    geglu: () => geglu(packed, { out }),
    swiglu: () => swiglu(packed, { out }),
    "rope, 32 and 8 heads of 128": () => ropeQK(q, k, cos, sin, { qOut, kOut }),
  };
}

/** The median of a launch's microseconds a call. */
async function timeGraph(run) {
  run();
  const graph = CudaGraph.capture(() => {
    for (let i = 0; i < calls; i++) run();
  });
  const stream = CudaStream.default(device);
  graph.launch();
  const times = [];
  for (let i = 0; i < launches; i++) {
    const start = stream.record();
    graph.launch();
    times.push(((await stream.record().elapsedMs(start)) * 1e3) / calls);
  }
  graph.dispose();
  return times.sort((a, b) => a - b)[launches >> 1];
}

const table = {};
for (const rows of [1, 16, 128]) {
  for (const [name, run] of Object.entries(kernels(rows))) {
    table[name] ??= {};
    table[name][`${rows} x ${columns}`] = Number((await timeGraph(run)).toFixed(2));
  }
}
console.log(`bfloat16 on ${device}, microseconds a call`);
console.table(table);
if (flags.json) fs.writeFileSync(flags.json, `${JSON.stringify(table, null, 2)}\n`);
