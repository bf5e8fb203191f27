// The main job: a real model by the kernels, and each kernel on its tensors against float64.
import { parseArgs } from "node:util";
import { type Device, defaultDevice, explain } from "@warpwright/runtime";
import { type FloatDType, machineLine, machineOf } from "@warpwright/testing";
import { type Comparison, isRight } from "./check.js";
import { Gemma } from "./gemma.js";
import { kernels, type Recording, runKernel } from "./kernels.js";
import { loadModel, type Model, named } from "./model.js";
import { continuePrompt, runPrompt, type Stage } from "./run.js";
import { table } from "./table.js";

const mostTokens = 160; // that PyTorch recorded

const usage = `usage: npm run demo -- [--device cpu|cuda|cuda:N] [--tokens N]

Runs a small language model's prompt by the kernels and compares with what PyTorch computed in
float64, compares each kernel on the model's tensors with float64, and lets the model write N
tokens (${mostTokens}), which have to be PyTorch's.`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      device: { type: "string" },
      tokens: { type: "string", default: `${mostTokens}` },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const device = (values.device ?? defaultDevice()) as Device;
  const count = Number(values.tokens);
  if (!(count >= 0 && count <= mostTokens)) {
    throw new Error(`demo: expected --tokens of 0 to ${mostTokens}, got ${values.tokens}`);
  }
  const model = await loadModel();
  const ids = Array.from(new TextEncoder().encode(model.prompt)); // its tokens are bytes
  const gemma = new Gemma(model, device, ids.length + mostTokens);
  console.log(`${machineLine(machineOf(device))}\n`);
  if (values.device === undefined && device === "cpu") console.log(`${explain()}\n`);

  const { layers, stages, next } = runPrompt(gemma, model, ids);
  const parts = [
    printStages(stages),
    printKernels(layers, model, device),
    printText(model, ids, continuePrompt(gemma, next, count)),
  ];
  if (parts.includes(false)) throw new Error("demo: a result is not within what rounding allows");
}

/** These print a part each, and return whether all of it is right. */
function printStages(stages: readonly Stage[]): boolean {
  const rows = stages.map((stage) => [stage.name, stage.shape.join(" x "), ...verdict(stage)]);
  console.log(`${table(["the model beside PyTorch's", "shape", ...verdictHeads], rows)}\n`);
  return stages.every(isRight);
}

function printKernels(layers: readonly Recording[], model: Model, device: Device): boolean {
  const dtypes: readonly FloatDType[] = ["bfloat16", "float32"];
  const cases = kernels.flatMap((kernel) => dtypes.map((dtype) => ({ kernel, dtype })));
  const rows = cases.map(({ kernel, dtype }) => ({
    ...{ kernel, dtype },
    ...runKernel(kernel, layers, model.config, { dtype, device }),
  }));
  const heads = ["kernel", "of each layer", "shape", "dtype", "us", ...verdictHeads];
  const cells = rows.map((row) => [
    ...[row.kernel.name, row.kernel.of, row.shape.join(" x "), row.dtype],
    ...[row.microseconds.toFixed(1), ...verdict(row)],
  ]);
  console.log(table(heads, cells));
  console.log(
    "\nerror, allowed: of the element that uses most of what it is allowed, which is half an ulp" +
      "\n                of a 16-bit dtype, always nearly reached, and float32's arithmetic\n",
  );
  return rows.every(isRight);
}

function printText(model: Model, ids: readonly number[], written: readonly number[]): boolean {
  const expected = Array.from(
    named(model.expected, "greedy_ids").dataSync() as BigInt64Array,
    Number,
  );
  const right = [...ids, ...written].every((token, i) => token === expected[i]);
  console.log(`${written.length} tokens written, the likeliest each; PyTorch's: ${mark(right)}\n`);
  console.log(new TextDecoder().decode(Uint8Array.of(...ids, ...written)));
  return right;
}

const verdictHeads = ["error", "allowed", ""];

function verdict(comparison: Comparison): string[] {
  const { error, allowed } = comparison;
  return [error.toExponential(1), allowed.toExponential(1), mark(isRight(comparison))];
}

function mark(right: boolean): string {
  return right ? "ok" : "WRONG";
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
