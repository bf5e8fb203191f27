// The main job: the kernels on a real model's tensors, checked against float64.
import { parseArgs } from "node:util";
import { type Device, defaultDevice, explain } from "@warpwright/runtime";
import { machineLine, machineOf } from "@warpwright/testing";
import { checkEmbedding } from "./embedding.js";
import { loadModel } from "./model.js";
import { type NormRow, runNorm } from "./norms.js";
import { table } from "./table.js";

const usage = `usage: npm run demo -- [--device cpu|cuda|cuda:N]

Loads a small language model's checkpoint, embeds its prompt, applies every layer's input norm
to the hidden state that PyTorch recorded for it, and shows time, bandwidth and error against
float64.`;

// The embedding is a copy, scaled by a power of two: nothing is rounded.
const embeddingTolerance = 0;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { device: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const device = (values.device ?? defaultDevice()) as Device;
  const model = await loadModel(device);
  console.log(`${machineLine(machineOf(device))}\n`);
  if (values.device === undefined && device === "cpu") console.log(`${explain()}\n`);

  const embedding = await checkEmbedding(model);
  const exact = embedding.error <= embeddingTolerance;
  console.log(
    `prompt of ${embedding.tokens} tokens embedded: largest difference from PyTorch's hidden.0 ` +
      `is ${embedding.error}: ${mark(exact)}\n`,
  );

  const rows: NormRow[] = [];
  for (const dtype of ["bfloat16", "float32"] as const) {
    for (let layer = 0; layer < model.numLayers; layer++) {
      rows.push(await runNorm(model, layer, dtype, device));
    }
  }
  console.log(
    table(
      ["rmsnorm", "shape", "dtype", "device", "us", "GB/s", "largest error", "of allowed", ""],
      rows.map((row) => [
        row.name,
        row.shape.join(" x "),
        row.dtype,
        row.device,
        row.microseconds.toFixed(2),
        row.gbPerSecond.toFixed(2),
        row.error.toExponential(1),
        row.shareOfAllowed.toFixed(2),
        mark(row.shareOfAllowed <= 1),
      ]),
    ),
  );
  console.log(
    "\nlargest error: against float64, as a share of the largest value" +
      "\nof allowed: the worst element's error, as a share of what correct rounding may cost," +
      "\n            which in 16 bits is nearly always reached",
  );
  if (!exact || rows.some((row) => row.shareOfAllowed > 1)) {
    throw new Error("demo: a result is not within what rounding allows");
  }
}

function mark(right: boolean): string {
  return right ? "ok" : "WRONG";
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
