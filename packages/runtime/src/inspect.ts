import { allocateBlock, copyBlock, live } from "./blocks.js";
import { shapeText } from "./describe.js";
import { denseLayout, offsetOf } from "./layout.js";
import { makeTensor } from "./making.js";
import { readDataSync } from "./reading.js";
import type { Tensor } from "./tensor.js";

const shownValues = 6;

/** What a template string shows: dtype, shape and device. */
export function describeTensor(tensor: Tensor): string {
  const head = `${tensor.dtype}, ${shapeText(tensor.shape)}, ${tensor.device}`;
  return tensor.disposed ? `Tensor(${head}, disposed)` : `Tensor(${head})`;
}

/** What console.log shows: the same, and on the CPU the first values. */
export function inspectTensor(tensor: Tensor): string {
  const head = describeTensor(tensor);
  if (tensor.disposed || tensor.device !== "cpu") return head;
  const values = firstValues(tensor, Math.min(tensor.size, shownValues));
  const more = tensor.size > shownValues ? ", ..." : "";
  return `${head} [${values.join(", ")}${more}]`;
}

function firstValues(tensor: Tensor, count: number): string[] {
  const source = live("inspect", tensor);
  const block = allocateBlock("inspect", [count], tensor.dtype, "cpu", null);
  for (let i = 0; i < count; i++) {
    const from = { ...source, ...denseLayout([1]), offset: offsetOf(tensor, i) };
    copyBlock({ ...block, ...denseLayout([1]), offset: i }, from, null);
  }
  const shown = makeTensor(block);
  const data = readDataSync("inspect", shown);
  shown.dispose();
  return Array.from<number | bigint, string>(data as ArrayLike<number | bigint>, (value) =>
    tensor.dtype === "bool" ? String(value !== 0) : short(value),
  );
}

function short(value: number | bigint): string {
  return typeof value === "bigint" ? String(value) : String(Number(value.toPrecision(6)));
}
