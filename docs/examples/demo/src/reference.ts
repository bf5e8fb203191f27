// What the kernels compute, in float64 and as plainly as the formulas are written.
import { erfc } from "@warpwright/testing";

/** Rows of so many columns, one behind the other. */
type Values = Float64Array;

function byRow(x: Values, columns: number, f: (row: Values) => ArrayLike<number>): Values {
  const out = new Float64Array(x.length);
  for (let at = 0; at < x.length; at += columns) out.set(f(x.subarray(at, at + columns)), at);
  return out;
}

function mean(row: Values): number {
  return row.reduce((sum, value) => sum + value, 0) / row.length;
}

/** x / sqrt(mean(x²) + eps) * (1 + weight): Gemma's */
export function rmsnorm(x: Values, weight: Values, eps: number): Values {
  return byRow(x, weight.length, (row) => {
    const rstd = 1 / Math.sqrt(mean(row.map((value) => value * value)) + eps);
    return row.map((value, i) => value * rstd * (1 + weight[i]!));
  });
}

/** (x - mean(x)) / sqrt(variance(x) + eps) * weight + bias */
export function layernorm(x: Values, weight: Values, bias: Values, eps: number): Values {
  return byRow(x, weight.length, (row) => {
    const center = mean(row);
    const rstd = 1 / Math.sqrt(mean(row.map((value) => (value - center) ** 2)) + eps);
    return row.map((value, i) => (value - center) * rstd * weight[i]! + bias[i]!);
  });
}

/** y = x / sqrt(mean(x²) + eps) * weight, and of each 16 columns Σ (-1)^bits(i & j) y[j] / 4 */
export function rmsnormRht(x: Values, weight: Values, eps: number): Values {
  return byRow(x, weight.length, (row) => {
    const rstd = 1 / Math.sqrt(mean(row.map((value) => value * value)) + eps);
    const y = row.map((value, i) => value * rstd * weight[i]!);
    return y.map((_, i) => {
      const block = y.subarray(i - (i % 16), i - (i % 16) + 16);
      return block.reduce((sum, value, j) => sum + sign((i % 16) & j) * value, 0) / 4;
    });
  });
}

/** -1 to the number of bits that are set. */
function sign(bits: number): number {
  return bits === 0 ? 1 : sign(bits >> 1) * (bits & 1 ? -1 : 1);
}

/** Heads of a token at position p: columns i and i + d / 2 turn by p * theta^(-2 i / d). */
export function rope(x: Values, heads: number, dim: number, theta: number): Values {
  const half = dim / 2;
  let count = 0;
  return byRow(x, dim, (head) => {
    const position = Math.floor(count++ / heads);
    const out = new Float64Array(dim);
    for (let i = 0; i < half; i++) {
      const angle = position * theta ** (-i / half);
      const [a, b] = [head[i]!, head[i + half]!];
      out[i] = a * Math.cos(angle) - b * Math.sin(angle);
      out[i + half] = b * Math.cos(angle) + a * Math.sin(angle);
    }
    return out;
  });
}

/** [tokens, heads, dim] each, causal; heads of q share those of k and v. */
export function attention(q: Values, k: Values, v: Values, tokens: number, dim: number): Values {
  const [heads, headsKv] = [q.length / tokens / dim, k.length / tokens / dim];
  const at = (x: Values, of: number, token: number, head: number) =>
    x.subarray((token * of + head) * dim, (token * of + head + 1) * dim);
  let count = 0;
  return byRow(q, dim, (query) => {
    const [token, head] = [Math.floor(count / heads), count++ % heads];
    const shared = Math.floor(head / (heads / headsKv));
    const keys = Array.from({ length: token + 1 }, (_, i) => at(k, headsKv, i, shared));
    const scores = keys.map((key) => dot(query, key) / Math.sqrt(dim));
    const largest = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - largest));
    const sum = weights.reduce((a, b) => a + b);
    const out = new Float64Array(dim);
    for (const [i, weight] of weights.entries()) {
      at(v, headsKv, i, shared).forEach((value, column) => {
        out[column]! += (weight / sum) * value;
      });
    }
    return out;
  });
}

function dot(a: Values, b: Values): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** x Φ(x) */
export function gelu(x: number): number {
  return (x * erfc(-x / Math.SQRT2)) / 2;
}

/** x (1 + tanh(sqrt(2 / π) (x + 0.044715 x³))) / 2, without the sum that cancels */
export function geluTanh(x: number): number {
  return x / (1 + Math.exp(-2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

/** x sigmoid(x) */
export function silu(x: number): number {
  return x / (1 + Math.exp(-x));
}

/** act(gate) * up of rows whose first half is the gate. */
export function gated(x: Values, columns: number, act: (gate: number) => number): Values {
  const half = columns / 2;
  return Float64Array.from({ length: x.length / 2 }, (_, i) => {
    const at = Math.floor(i / half) * columns + (i % half);
    return act(x[at]!) * x[at + half]!;
  });
}
