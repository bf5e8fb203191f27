// Attention in float64, as its formula has it, and the same formula as a user would write it in the
// inputs' dtype: what the errors of the kernels are measured against.
import { type FloatDType, roundTo } from "@warpwright/testing";

/** Row-major values and their shape, [batch, heads, seqlen, head_dim]. */
export interface Values {
  data: Float64Array;
  shape: readonly [number, number, number, number];
}

export interface ReferenceOptions {
  causal?: boolean | undefined;
  softmaxScale?: number | undefined;
  windowLeft?: number | undefined;
  windowRight?: number | undefined;
  softcap?: number | undefined;
  /** What is added to the score of a key, -Infinity for one that is hidden. */
  bias?: ((batch: number, head: number, query: number, key: number) => number) | undefined;
  sinks?: ArrayLike<number> | undefined;
}

/** Rounds what is stored between the steps: the identity for the formula itself. */
type Rounding = (x: number) => number;

export interface Reference {
  /** [batch, heads, seqlen, head_dim of v] */
  out: Float64Array;
  /** [batch, heads, seqlen] */
  lse: Float64Array;
}

/** The formula in float64. */
export function attentionReference(
  q: Values,
  k: Values,
  v: Values,
  options: ReferenceOptions = {},
): Reference {
  return compute(q, k, v, options, (x) => x);
}

/** The formula with scores, weights and result rounded to a dtype, as separate kernels do it. */
export function naiveAttention(
  q: Values,
  k: Values,
  v: Values,
  dtype: FloatDType,
  options: ReferenceOptions = {},
): Reference {
  return compute(q, k, v, options, (x) => roundTo(dtype, x));
}

function compute(
  q: Values,
  k: Values,
  v: Values,
  options: ReferenceOptions,
  round: Rounding,
): Reference {
  const [batches, heads, queries] = q.shape;
  const columns = v.shape[3];
  const out = new Float64Array(batches * heads * queries * columns);
  const lse = new Float64Array(batches * heads * queries);
  const group = heads / k.shape[1];
  for (let row = 0; row < lse.length; row++) {
    const query = row % queries;
    const head = Math.floor(row / queries) % heads;
    const batch = Math.floor(row / queries / heads);
    const headKv = batch * k.shape[1] + Math.floor(head / group);
    const scores = scoresOf(q, k, { row, headKv, batch, head, query }, options, round);
    const sink = options.sinks?.[head] ?? -Infinity;
    const { weights, logSum } = softmax(scores, sink, round);
    lse[row] = logSum;
    const values = headKv * v.shape[2];
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let key = 0; key < weights.length; key++) {
        // A key that is not seen has no part, whatever its value is.
        if (scores[key] === -Infinity) continue;
        sum += weights[key]! * v.data[(values + key) * columns + column]!;
      }
      out[row * columns + column] = round(sum);
    }
  }
  return { out, lse };
}

interface Row {
  row: number;
  headKv: number;
  batch: number;
  head: number;
  query: number;
}

function scoresOf(
  q: Values,
  k: Values,
  { row, headKv, batch, head, query }: Row,
  options: ReferenceOptions,
  round: Rounding,
): Float64Array {
  const headDim = q.shape[3];
  const keys = k.shape[2];
  const { softmaxScale = 1 / Math.sqrt(headDim), softcap = 0, bias } = options;
  const scores = new Float64Array(keys);
  for (let key = 0; key < keys; key++) {
    if (!isSeen(query + keys - q.shape[2], key, options)) {
      scores[key] = -Infinity;
      continue;
    }
    let dot = 0;
    for (let i = 0; i < headDim; i++) {
      dot += q.data[row * headDim + i]! * k.data[(headKv * keys + key) * headDim + i]!;
    }
    let score = round(dot * softmaxScale);
    if (softcap > 0) score = round(softcap * Math.tanh(score / softcap));
    const added = bias?.(batch, head, query, key) ?? 0;
    scores[key] = added === -Infinity ? -Infinity : round(score + added);
  }
  return scores;
}

/** Whether a query at a position may see a key. */
function isSeen(position: number, key: number, options: ReferenceOptions): boolean {
  const { causal = false, windowLeft = -1, windowRight = -1 } = options;
  if (causal && key > position) return false;
  if (windowLeft >= 0 && key < position - windowLeft) return false;
  return windowRight < 0 || key <= position + windowRight;
}

function softmax(
  scores: Float64Array,
  sink: number,
  round: Rounding,
): { weights: Float64Array; logSum: number } {
  const largest = scores.reduce((a, b) => (b > a || Number.isNaN(b) ? b : a), sink);
  if (largest === -Infinity) return { weights: new Float64Array(scores.length), logSum: -Infinity };
  const powers = scores.map((score) => Math.exp(score - largest));
  const sum = powers.reduce((a, b) => a + b, Math.exp(sink - largest));
  return { weights: powers.map((power) => round(power / sum)), logSum: largest + Math.log(sum) };
}
