import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkDtype,
  checkFloat,
  checkOptions,
  checkOverlap,
  checkShape,
  checkTensor,
  dtypeCode,
  type FloatDType,
  handleOf,
  newTensor,
  type StreamHandle,
  streamFor,
} from "@warpwright/runtime/kernel";
import { checkLayout, checkOutput, checkRank4 } from "./checks.js";
import { type Layout, packMerge, sizesOf, withUsable } from "./geometry.js";
import { native } from "./native.js";

export interface MergeAttentionOptions {
  /** Order of the dimensions of outA, outB and the result. Default "bshd". */
  layout?: Layout | undefined;
  /** Written and returned instead of a new tensor: like outA; may be outA or outB. */
  out?: Tensor | undefined;
  /** Likewise: like lseA; may be lseA or lseB. */
  lse?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

const op = "mergeAttention";
const optionNames = ["layout", "out", "lse", "stream"];

/**
 * Merges two attentions of the same queries over different keys into the attention over all of
 * them, exactly: `out = (exp(lseA) outA + exp(lseB) outB) / (exp(lseA) + exp(lseB))`. A part
 * without keys, of lse -Infinity, leaves the other one as it is, to the bit. Of parts with sinks
 * only one may have them.
 *
 * @param outA [batch, seqlen, heads, head_dim], float32 (best), float16 or bfloat16
 * @param lseA float32 [batch, heads, seqlen]
 * @param outB like outA
 * @param lseB like lseA
 * @returns `out` and `lse`: new contiguous tensors, or `options.out` and `options.lse`
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
 *   ERR_DEVICE, ERR_DISPOSED, ERR_LOAD; CudaError
 *
 * @example
 * import { attentionWithLse, mergeAttention } from "@warpwright/attention";
 * import { randn } from "@warpwright/runtime";
 *
 * const [q, k, v] = [1, 2, 3].map((seed) => randn([1, 16, 2, 64], { seed }));
 * const [a, b] = [0, 8].map((start) =>
 *   attentionWithLse(q!, k!.narrow(1, start, 8), v!.narrow(1, start, 8)),
 * );
 * const { out } = mergeAttention(a!.out, a!.lse, b!.out, b!.lse);
 * console.log(out.shape);
 */
export function mergeAttention(
  outA: Tensor,
  lseA: Tensor,
  outB: Tensor,
  lseB: Tensor,
  options: MergeAttentionOptions = {},
): { out: Tensor; lse: Tensor } {
  checkOptions(op, options, optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { layout = "bshd", out, lse, stream } = options;
  checkLayout(op, layout);
  checkTensor(op, "outA", outA);
  checkFloat(op, "outA", outA);
  checkRank4(op, "outA", outA);
  const like = { shape: outA.shape, dtype: outA.dtype as FloatDType, device: outA.device };
  const lseLike = { shape: sizesOf(outA, layout), dtype: "float32", device: outA.device } as const;
  checkPart("lseA", lseA, lseLike);
  checkPart("outB", outB, like);
  checkPart("lseB", lseB, lseLike);
  const handle = streamFor(op, outA.device, stream);
  if (out !== undefined) {
    checkOutput(op, "out", out, like);
    checkShares("out", out, { outA, outB });
    checkShares("out", out, { lseA, lseB }, false);
  }
  if (lse !== undefined) {
    checkOutput(op, "lse", lse, lseLike);
    checkShares("lse", lse, { lseA, lseB });
    checkShares("lse", lse, { outA, outB, ...(out ? { out } : {}) }, false);
  }

  const results = {
    out: out ?? newTensor(like.shape, like.dtype, like.device, handle, op),
    lse: lse ?? newTensor(lseLike.shape, "float32", like.device, handle, op),
  };
  if (results.lse.size === 0) return results;
  const outs = { outA, outB, out: results.out };
  const lses: Lses = [lseA, lseB, results.lse];
  withUsable(outs, "out", handle, (usable) => launch(usable, lses, layout, handle));
  return results;
}

type Lses = readonly [lseA: Tensor, lseB: Tensor, lse: Tensor];

interface Like {
  shape: readonly number[];
  dtype: FloatDType;
  device: string;
}

function checkPart(name: string, part: Tensor, { shape, dtype, device }: Like): void {
  checkTensor(op, name, part);
  checkDtype(op, name, part, dtype);
  checkShape(op, name, part, shape);
  checkDevice(op, name, part, device);
}

/** An output is written row by row behind the reads: it may be exactly one of its inputs. */
function checkShares(
  name: string,
  output: Tensor,
  others: Readonly<Record<string, Tensor>>,
  exact = true,
): void {
  for (const other in others) checkOverlap(op, name, output, other, others[other]!, { exact });
}

function launch(
  { outA, outB, out }: Record<"outA" | "outB" | "out", Tensor>,
  lses: Lses,
  layout: Layout,
  stream: StreamHandle | null,
): void {
  const [lseA, lseB, lse] = lses;
  native().mergeFwd(
    handleOf(outA),
    handleOf(lseA),
    handleOf(outB),
    handleOf(lseB),
    handleOf(out),
    handleOf(lse),
    stream,
    packMerge([outA, outB, out], lses, layout),
    dtypeCode(outA.dtype),
  );
}
