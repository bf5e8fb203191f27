import { type Device, type DType, ones, zeros } from "@warpwright/runtime";
import { type Refusal, testTensorErrors } from "@warpwright/testing/vitest";
import { attentionCallees, callees } from "./callees.js";

/** A refusal of each function's; OP in the error is its name. */
function spoilt(fault: string, args: () => Record<string, unknown>, error: string): Refusal[] {
  return attentionCallees.map((callee) => ({
    ...{ callee, fault, spoil: args },
    error: error.replace("OP", callee.op),
  }));
}

/** What masks and sinks have in common. */
function optionalRefusals(name: string, shape: number[], device: Device): Refusal[] {
  const disposed = () => {
    const tensor = ones(shape, { device });
    tensor.dispose();
    return { [name]: tensor };
  };
  const wanted = `expected ${name}`;
  return [
    ...spoilt(
      `null for ${name}`,
      () => ({ [name]: null }),
      `ERR_KIND OP: ${wanted} to be a Tensor, got null`,
    ),
    ...spoilt(`${name} is disposed`, disposed, `ERR_DISPOSED OP: ${name} has been disposed`),
    ...(device === "cpu"
      ? []
      : spoilt(
          `${name} on the CPU`,
          () => ({ [name]: ones(shape) }),
          `ERR_DEVICE OP: ${wanted} on ${device}, got cpu`,
        )),
  ];
}

/** Masks: any shape that broadcasts, bool or floating-point. */
function maskRefusals(device: Device): Refusal[] {
  const shapes = [[3], [2, 3], [2, 1, 3, 2], [3, 1, 1, 1], [1, 2, 2, 2, 2], [0], [2, 2, 0]];
  const integers: readonly DType[] = ["int32", "int64", "uint8"];
  return [
    ...shapes.flatMap((shape) =>
      spoilt(
        `a mask of shape [${shape.join(", ")}]`,
        () => ({ mask: ones(shape, { device }) }),
        `ERR_SHAPE OP: expected mask to broadcast to [2, 2, 2, 2], got shape [${shape.join(", ")}]`,
      ),
    ),
    ...integers.flatMap((dtype) =>
      spoilt(
        `a mask of ${dtype}`,
        () => ({ mask: zeros([2, 2], { dtype, device }) }),
        `ERR_DTYPE OP: expected mask of dtype bool, float32, float16 or bfloat16, got ${dtype}`,
      ),
    ),
    ...optionalRefusals("mask", [2, 2], device),
  ];
}

/** Sinks: float32, one for each head. */
function sinkRefusals(device: Device): Refusal[] {
  const shapes = [[], [0], [1], [3], [1, 2]];
  const dtypes: readonly DType[] = ["float16", "bfloat16", "int32", "bool"];
  return [
    ...shapes.flatMap((shape) =>
      spoilt(
        `sinks of shape [${shape.join(", ")}]`,
        () => ({ sinks: ones(shape, { device }) }),
        `ERR_SHAPE OP: expected sinks of shape [2], got [${shape.join(", ")}]`,
      ),
    ),
    ...dtypes.flatMap((dtype) =>
      spoilt(
        `sinks of ${dtype}`,
        () => ({ sinks: zeros([2], { dtype, device }) }),
        `ERR_DTYPE OP: expected sinks of dtype float32, got ${dtype}`,
      ),
    ),
    ...optionalRefusals("sinks", [2], device),
  ];
}

/** What is too large, or nothing at all. */
function sizeRefusals(device: Device): Refusal[] {
  const shaped = (fault: string, q: number[], v: number[], message: string): Refusal[] =>
    attentionCallees.map((callee) => ({
      callee,
      fault,
      spoil: () => ({
        q: ones(q, { device }),
        k: ones([2, 2, 2, q[3]!], { device }),
        v: ones(v, { device }),
        ...{ out: undefined, lse: undefined },
      }),
      error: `ERR_UNSUPPORTED ${callee.op}: expected ${message}`,
    }));
  const long = 2 ** 31 - 1023;
  const seqlen = (name: string): Refusal[] =>
    attentionCallees.map((callee) => ({
      callee,
      fault: `${name} of 2^31 positions`,
      spoil: (good) => {
        const far = ones([2, 1, 2, 8], { device }).expand([2, long, 2, 8]);
        const given = name === "q" ? { q: far } : { k: far, v: far };
        return { ...good, ...given, out: undefined, lse: undefined };
      },
      error:
        `ERR_UNSUPPORTED ${callee.op}: expected ${name} with a seqlen of at most 2147482624, ` +
        `got ${long}`,
    }));
  const range = "with a head dim of 1 to 256, got";
  return [
    ...shaped("a head dim of 257", [2, 2, 2, 257], [2, 2, 2, 8], `q ${range} 257`),
    ...shaped("a head dim of 0", [2, 2, 2, 0], [2, 2, 2, 8], `q ${range} 0`),
    ...shaped("a head dim of v of 300", [2, 2, 2, 8], [2, 2, 2, 300], `v ${range} 300`),
    ...shaped("a head dim of v of 0", [2, 2, 2, 8], [2, 2, 2, 0], `v ${range} 0`),
    ...seqlen("q"),
    ...seqlen("k"),
  ];
}

testTensorErrors(callees, (device) => [
  ...maskRefusals(device),
  ...sinkRefusals(device),
  ...sizeRefusals(device),
]);
