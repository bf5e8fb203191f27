// Every output with every other tensor, one element in common; and what may share memory.
import { type Device, ones, type Tensor, zeros } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { addRmsnorm, rmsnorm } from "../src/index.js";
import { type Arguments, type Callee, callees, type Refusal, testRefusals } from "./refusals.js";

type Pair = readonly [out: string, other: string];

/** Each output with each input and with the outputs before it, as messages name them. */
function pairsOf({ inputs, outputs }: Callee): Pair[] {
  return outputs.flatMap((out, i) => {
    const others = [...inputs, ...outputs.slice(0, i)];
    // Of out and residualOut the first is named first; rstd comes before all.
    return others.map((other) =>
      out === "residualOut" && other === "out" ? ([other, out] as const) : ([out, other] as const),
    );
  });
}

/** An output may be exactly x or the residual, since a row is read before it is written. */
function mayBeExact([out, other]: Pair): boolean {
  return out !== "rstd" && (other === "x" || other === "residual");
}

function errorFor(callee: Callee, pair: Pair): string {
  const [out, other] = pair;
  const exact = mayBeExact(pair) ? ", or to be exactly it" : "";
  return (
    `ERR_OVERLAP ${callee.op}: expected ${out} to share no memory with ${other}${exact}, ` +
    "got views that overlap"
  );
}

/** The last element of one tensor is the first of the other; their neighbours touch nothing. */
function touching(first: Tensor, second: Tensor, device: Device): [Tensor, Tensor] {
  const buffer = zeros([first.size + second.size - 1], { device });
  return [
    buffer.narrow(0, 0, first.size).view(first.shape),
    buffer.narrow(0, first.size - 1, second.size).view(second.shape),
  ];
}

function spoilPair([a, b]: Pair, device: Device): (good: Arguments) => Arguments {
  return (good) => {
    const [first, second] = touching(good[a] as Tensor, good[b] as Tensor, device);
    return { [a]: first, [b]: second };
  };
}

/** Of two tensors side by side in the rows of one, the last column of one is the other's first. */
function sharedColumn([a, b]: Pair, device: Device): () => Arguments {
  return () => {
    const wide = zeros([2, 15], { device });
    return { [a]: wide.narrow(1, 0, 8), [b]: wide.narrow(1, 7, 8) };
  };
}

function overlapRefusals(callee: Callee, device: Device): Refusal[] {
  return pairsOf(callee).flatMap((pair) => {
    const [out, other] = pair;
    const error = errorFor(callee, pair);
    const refusals: Refusal[] = [
      { callee, error, fault: `${out} ends in ${other}`, spoil: spoilPair(pair, device) },
      { callee, error, fault: `${other} ends in ${out}`, spoil: spoilPair([other, out], device) },
    ];
    if (!pair.includes("weight") && !pair.includes("rstd")) {
      refusals.push(
        ...[pair, [other, out] as const].map((columns) => ({
          ...{ callee, error, fault: `a column is ${columns.join("'s last and ")}'s first` },
          spoil: sharedColumn(columns, device),
        })),
      );
    }
    return refusals;
  });
}

/** Outputs that are exactly another tensor, where they may not be. */
function sameRefusals(callee: Callee, device: Device): Refusal[] {
  const rows = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, ones([8], { device })]));
  const inputs = () => ({
    ...rows(callee.inputs),
    ...Object.fromEntries(callee.outputs.map((name) => [name, undefined])),
  });
  const outputs = callee.outputs.filter((name) => name !== "rstd");
  const refusals = outputs.map((out): Refusal => {
    const spoil = () => {
      const args: Arguments = inputs();
      return { ...args, [out]: args["weight"] };
    };
    return { callee, fault: `${out} is weight`, spoil, error: errorFor(callee, [out, "weight"]) };
  });
  if (outputs.length === 2) {
    const pair = ["out", "residualOut"] as const;
    const spoil = ({ out }: Arguments) => ({ residualOut: out });
    refusals.push({ callee, fault: "out is residualOut", spoil, error: errorFor(callee, pair) });
  }
  const insideOut = () => {
    const wide = zeros([2, 24], { device });
    return { out: wide.narrow(1, 0, 8), rstd: wide.select(1, 3) };
  };
  const error = errorFor(callee, ["rstd", "out"]);
  refusals.push({ callee, fault: "rstd is a column of out", spoil: insideOut, error });
  return refusals;
}

describe.each(testDevices())("overlaps on %s", (device) => {
  testRefusals(
    device,
    callees.flatMap((callee) => [
      ...overlapRefusals(callee, device),
      ...sameRefusals(callee, device),
    ]),
  );

  test("two chunks of one tensor may be x and out, in either order", () => {
    for (const [from, to] of [
      [0, 1],
      [1, 0],
    ] as const) {
      const chunks = ones([2, 8], { device }).chunk(2, -1);
      const out = chunks[to]!.fill(0);
      rmsnorm(chunks[from]!, null, { out });
      expect(out.dataSync()[3]).toBeCloseTo(1, 5);
    }
  });

  test("tensors that end where another begins", () => {
    const buffer = ones([5 * 16 + 8 + 2], { device });
    const [x, residual, out, residualOut] = [0, 1, 2, 3].map((i) =>
      buffer.narrow(0, 16 * i, 16).view([2, 8]),
    );
    const weight = buffer.narrow(0, 80, 8);
    const rstd = buffer.narrow(0, 88, 2);
    const outputs = { out: out!, residualOut: residualOut!, rstd };
    addRmsnorm(x!, residual!, weight, outputs);
    expect(buffer.dataSync()[48]).toBe(2);
    expect(out!.dataSync()[15]).toBeCloseTo(1, 5);
  });
});
