// Times ours, onnxruntime and a copy of memory in turns, so that all three see the machine in the
// same state, and compares the results first.
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";
import { empty, randn, tensor } from "../../../packages/runtime/dist/index.js";
import { operatorModel } from "./model.mjs";

const threads = 2;
const windowMs = 20;
/** onnxruntime's threads go on looking for work for a while after a call. */
const settleMs = 10;

const require = createRequire(import.meta.url);
const ort = require("onnxruntime-node");

const sizeOf = (shape) => shape.reduce((product, size) => product * size, 1);

function inputsOf({ inputs }) {
  return Object.entries(inputs).map(([name, shape], i) => {
    if (name === "positions") {
      const positions = BigInt64Array.from({ length: sizeOf(shape) }, (_, at) => BigInt(at));
      return [name, shape, "int64", positions];
    }
    const values = randn(shape, { seed: i + 1 });
    const data = values.dataSync();
    values.dispose();
    return [name, shape, "float32", data];
  });
}

/** One call of onnxruntime into buffers of its own, as a function; and its outputs. */
async function theirs(of, inputs) {
  const session = await ort.InferenceSession.create(operatorModel(of.operator), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  });
  const feeds = Object.fromEntries(
    inputs.map(([name, shape, type, data]) => [name, new ort.Tensor(type, data, shape)]),
  );
  const outputs = await session.run(feeds);
  return { outputs, run: () => session.run(feeds, outputs), dispose: () => session.release() };
}

/** One call of ours on the same values in `dtype`. */
function ours(of, inputs, dtype) {
  const floats = inputs.filter(([, , type]) => type === "float32");
  const tensors = Object.fromEntries([
    ...floats.map(([name, shape, , data]) => [name, tensor(data, { shape, dtype })]),
    ...Object.entries(of.outputs).map(([name, shape]) => [name, empty(shape, { dtype })]),
  ]);
  const buffers = of.prepare?.(tensors) ?? tensors;
  const dispose = () => {
    for (const each of Object.values(tensors)) each.dispose();
  };
  return { tensors, run: () => of.run(buffers), dispose };
}

/** Throws where the two are further apart than float32 sums in two orders. */
function compare(of, tensors, outputs) {
  for (const name of Object.keys(of.outputs)) {
    const found = tensors[name].dataSync();
    const wanted = outputs[name].data;
    let worst = 0;
    for (let i = 0; i < wanted.length; i++) {
      const difference = Math.abs(found[i] - wanted[i]) / (1 + Math.abs(wanted[i]));
      if (!(difference <= worst)) worst = difference;
    }
    if (!(worst < 2e-5)) throw new Error(`${of.name}: ${name} differs by ${worst}`);
  }
}

/** A copy that moves as many bytes, half of them read. */
function copyOf(bytes) {
  const from = empty([Math.ceil(bytes / 8)]).fill(1);
  const to = empty(from.shape).fill(0);
  const dispose = () => [from, to].map((each) => each.dispose());
  return { run: () => to.copyFrom(from), dispose };
}

async function timeWindow(run) {
  const start = performance.now();
  let calls = 0;
  let now = start;
  while (now - start < windowMs) {
    await run();
    calls++;
    now = performance.now();
  }
  return (now - start) / calls;
}

/** Milliseconds a call, of every window, for each of the runs. */
async function timeInTurns(runs, seconds) {
  const times = runs.map(() => []);
  for (const run of runs) await timeWindow(run);
  const until = performance.now() + 1000 * seconds;
  while (performance.now() < until || times[0].length < 5) {
    for (const [i, run] of runs.entries()) {
      await pause(settleMs);
      times[i].push(await timeWindow(run));
    }
  }
  return times.map((each) => {
    each.sort((a, b) => a - b);
    return { min: each[0], median: each[each.length >> 1] };
  });
}

/** Milliseconds of ours in every dtype, of onnxruntime, and of a copy. */
export async function measure(of, { dtypes, seconds }) {
  const inputs = inputsOf(of);
  const peer = await theirs(of, inputs);
  const mine = dtypes.map((dtype) => ours(of, inputs, dtype));
  const copy = copyOf(of.bytes);
  mine[0].run();
  compare(of, mine[0].tensors, peer.outputs);
  const runs = [...mine, peer, copy].map(({ run }) => run);
  const times = await timeInTurns(runs, seconds);
  for (const each of [...mine, peer, copy]) await each.dispose();
  return {
    ours: Object.fromEntries(dtypes.map((dtype, i) => [dtype, times[i]])),
    onnxruntime: times.at(-2),
    copy: times.at(-1),
  };
}
