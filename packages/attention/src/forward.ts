// What attention and attentionWithLse share: checks, allocation, the native call.
import type { CudaStream, Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkOptions,
  dtypeCode,
  type FloatDType,
  handleOf,
  newTensor,
  optionalHandle,
  type StreamHandle,
  streamFor,
} from "@warpwright/runtime/kernel";
import {
  checkApart,
  checkLayout,
  checkMask,
  checkOutDtype,
  checkOutput,
  checkQkv,
  checkScalars,
  checkSinks,
  type Scalars,
} from "./checks.js";
import {
  type Layout,
  packAttention,
  shapeIn,
  sizesOf,
  type Tensors,
  withUsable,
} from "./geometry.js";
import { native } from "./native.js";

export interface AttentionOptions {
  /** Whether a query sees no key after its own position, see attention. Default false. */
  causal?: boolean | undefined;
  /** What scores are multiplied by, above 0. Default 1 / sqrt(head_dim). */
  softmaxScale?: number | undefined;
  /** Keys that a query sees before its own position; -1 (default): all. */
  windowLeft?: number | undefined;
  /** Keys that a query sees after its own position; -1 (default): all. causal makes it 0. */
  windowRight?: number | undefined;
  /** Caps scores: `softcap * tanh(score / softcap)`, before the mask. Default 0: not at all. */
  softcap?: number | undefined;
  /**
   * bool (true: the query attends to the key) or a floating-point dtype (added to the score);
   * broadcast to [batch, heads, seqlen of q, seqlen of k], whatever the layout.
   */
  mask?: Tensor | undefined;
  /** float32 [heads]: for each head one more logit in the softmax's denominator. */
  sinks?: Tensor | undefined;
  /** Order of the dimensions of q, k, v and the result. Default "bshd". */
  layout?: Layout | undefined;
  /**
   * Receives the logarithm of the softmax's denominator, natural: float32 [batch, heads, seqlen of
   * q], whatever the layout.
   */
  lse?: Tensor | undefined;
  /** The result's dtype. Default q's. */
  outDtype?: FloatDType | undefined;
  /** Written and returned instead of a new tensor: of outDtype, apart from all inputs. */
  out?: Tensor | undefined;
  /** Default: the device's current stream. */
  stream?: CudaStream | undefined;
}

const optionNames = [
  "causal",
  "softmaxScale",
  "windowLeft",
  "windowRight",
  "softcap",
  "mask",
  "sinks",
  "layout",
  "lse",
  "outDtype",
  "out",
  "stream",
];

/** `withLse` asks for an lse also where the caller gives none. */
export function forward(
  op: string,
  q: Tensor,
  k: Tensor,
  v: Tensor,
  options: AttentionOptions,
  withLse: boolean,
): { out: Tensor; lse: Tensor | null } {
  checkOptions(op, options, optionNames);
  // Read once: what has been checked is what is used, whatever the getters of an object return.
  const { causal = false, windowLeft = -1, windowRight = -1, softcap = 0 } = options;
  const { layout = "bshd", mask, sinks, lse, outDtype: dtype, out, stream } = options;
  const { softmaxScale: scale } = options;
  checkLayout(op, layout);
  checkQkv(op, q, k, v, layout);
  const softmaxScale = scale === undefined ? 1 / Math.sqrt(q.shape[3]!) : scale;
  const scalars: Scalars = { causal, softmaxScale, windowLeft, windowRight, softcap };
  checkScalars(op, scalars);
  const outDtype = dtype === undefined ? q.dtype : dtype;
  checkOutDtype(op, outDtype);

  const sizes = sizesOf(q, layout);
  const [, heads] = sizes;
  if (mask !== undefined) checkMask(op, mask, sizes, sizesOf(k, layout)[2]);
  if (sinks !== undefined) checkSinks(op, sinks, heads);
  for (const [name, tensor] of Object.entries({ mask, sinks })) {
    if (tensor !== undefined) checkDevice(op, name, tensor, q.device);
  }
  const handle = streamFor(op, q.device, stream);
  const outLike = { shape: shapeIn(layout, sizes, v.shape[3]!), dtype: outDtype, device: q.device };
  const lseLike = { shape: sizes, dtype: "float32", device: q.device } as const;
  const inputs = { q, k, v, mask, sinks };
  if (out !== undefined) {
    checkOutput(op, "out", out, outLike);
    checkApart(op, "out", out, inputs);
  }
  if (lse !== undefined) {
    checkOutput(op, "lse", lse, lseLike);
    checkApart(op, "lse", lse, { ...inputs, out });
  }

  const results = {
    out: out ?? newTensor(outLike.shape, outDtype, q.device, handle, op),
    lse: lse ?? (withLse ? newTensor(sizes, "float32", q.device, handle, op) : null),
  };
  if (results.out.size === 0) return results;
  const tensors: Tensors = { q, k, v, ...results, mask: mask ?? null, sinks: sinks ?? null };
  withUsable<Tensors>(tensors, "out", handle, (usable) => launch(usable, scalars, layout, handle));
  return results;
}

function launch(
  tensors: Tensors,
  { causal, softmaxScale, windowLeft, windowRight, softcap }: Scalars,
  layout: Layout,
  stream: StreamHandle | null,
): void {
  const { q, k, v, out, lse, mask, sinks } = tensors;
  native().attentionFwd(
    handleOf(q),
    handleOf(k),
    handleOf(v),
    handleOf(out),
    optionalHandle(lse),
    optionalHandle(mask),
    optionalHandle(sinks),
    stream,
    packAttention(tensors, layout),
    dtypeCode(q.dtype),
    dtypeCode(out.dtype),
    dtypeCode(mask?.dtype ?? "bool"),
    windowLeft,
    causal ? 0 : windowRight,
    softmaxScale,
    softcap,
  );
}
