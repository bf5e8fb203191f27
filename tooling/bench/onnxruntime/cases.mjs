// What is compared: each case has the operator for onnxruntime, our call, and what one call moves
// or computes. `inputs` are shapes, in the operator's order; all are float32.
import { attention } from "../../../packages/attention/dist/index.js";
import { gelu } from "../../../packages/gelu/dist/index.js";
import { layernorm } from "../../../packages/layernorm/dist/index.js";
import { addRmsnorm, rmsnorm } from "../../../packages/rmsnorm/dist/index.js";
import { rope } from "../../../packages/rope/dist/index.js";

const microsoft = "com.microsoft";
const [rows, columns] = [4096, 4096];
const matrix = [rows, columns];
const heads = [1, 32, rows, columns / 32];
const headSizes = ["batch", "heads", "tokens", "head_dim"];
const tableSizes = ["positions", "half"];

const onMatrix = { sizes: ["rows", "columns"] };
const onTokens = { sizes: ["batch", "tokens", "columns"] };
const onColumns = { sizes: ["columns"] };

/** Element-wise and row-wise operators: x and out are `columns` wide, `moved` of them all told. */
const rowCases = [
  {
    name: "layernorm",
    operator: {
      operator: "LayerNormalization",
      inputs: { x: onMatrix, weight: onColumns, bias: onColumns },
      outputs: [{ name: "out", ...onMatrix }],
      attributes: { axis: -1n, epsilon: 1e-5 },
    },
    inputs: { x: matrix, weight: [columns], bias: [columns] },
    outputs: { out: matrix },
    moved: 2,
    run: ({ x, weight, bias, out }) => layernorm(x, weight, bias, { out }),
  },
  {
    name: "rmsnorm",
    operator: {
      operator: "SimplifiedLayerNormalization",
      inputs: { x: onMatrix, weight: onColumns },
      outputs: [{ name: "out", ...onMatrix }],
      attributes: { axis: -1n, epsilon: 1e-6 },
    },
    inputs: { x: matrix, weight: [columns] },
    outputs: { out: matrix },
    moved: 2,
    run: ({ x, weight, out }) => rmsnorm(x, weight, { out }),
  },
  {
    name: "addRmsnorm",
    operator: {
      operator: "SkipSimplifiedLayerNormalization",
      domain: microsoft,
      inputs: { x: onTokens, residual: onTokens, weight: onColumns },
      outputs: [{ name: "out", ...onTokens }, null, null, { name: "sum", ...onTokens }],
      attributes: { epsilon: 1e-6 },
    },
    inputs: { x: [1, ...matrix], residual: [1, ...matrix], weight: [columns] },
    outputs: { out: [1, ...matrix], sum: [1, ...matrix] },
    moved: 4,
    run: ({ x, residual, weight, out, sum }) =>
      addRmsnorm(x, residual, weight, { out, residualOut: sum }),
  },
  geluCase("none", { operator: "Gelu", attributes: { approximate: "none" } }),
  geluCase("tanh", { operator: "Gelu", attributes: { approximate: "tanh" } }),
  geluCase("quick", { operator: "QuickGelu", domain: microsoft, attributes: { alpha: 1.702 } }),
  {
    name: "rope",
    operator: {
      operator: "RotaryEmbedding",
      domain: microsoft,
      inputs: {
        x: { sizes: headSizes },
        positions: { dtype: "int64", sizes: ["batch", "tokens"] },
        cos: { sizes: tableSizes },
        sin: { sizes: tableSizes },
      },
      outputs: [{ name: "out", sizes: headSizes }],
    },
    inputs: { x: heads, positions: [1, rows], cos: [rows, 64], sin: [rows, 64] },
    outputs: { out: heads },
    moved: 2,
    run: ({ x, cos, sin, out }) => rope(x, cos, sin, { layout: "bhsd", out }),
  },
];

function geluCase(approximate, operator) {
  return {
    name: `gelu ${approximate}`,
    operator: { ...operator, inputs: { x: onMatrix }, outputs: [{ name: "out", ...onMatrix }] },
    inputs: { x: matrix },
    outputs: { out: matrix },
    moved: 2,
    run: ({ x, out }) => gelu(x, { approximate, out }),
  };
}

function attentionCase({ numHeads, headDim, queries, keys, causal }) {
  const width = numHeads * headDim;
  const q = { sizes: ["batch", "queries", "width"] };
  const k = { sizes: ["batch", "keys", "width"] };
  const split = (x) => x.view([1, x.shape[1], numHeads, headDim]);
  return {
    name: `attention ${numHeads}x${headDim}${causal ? " causal" : ""} ${queries}:${keys}`,
    operator: {
      operator: "MultiHeadAttention",
      domain: microsoft,
      inputs: { q, k, v: k },
      outputs: [{ name: "out", ...q }],
      attributes: { num_heads: BigInt(numHeads), unidirectional: causal ? 1n : 0n },
    },
    inputs: { q: [1, queries, width], k: [1, keys, width], v: [1, keys, width] },
    outputs: { out: [1, queries, width] },
    bytes: 4 * 2 * (queries + keys) * width,
    // Two products of 2 queries keys headDim each; a causal mask leaves half of them.
    flops: (4 * queries * keys * width) / (causal ? 2 : 1),
    // Made outside of the timed calls: the views are the caller's.
    prepare: ({ q, k, v, out }) => ({ q: split(q), k: split(k), v: split(v), out: split(out) }),
    run: ({ q, k, v, out }) => attention(q, k, v, { causal, out }),
  };
}

const attentionCases = [
  [16, 64],
  [8, 128],
].flatMap(([numHeads, headDim]) => [
  ...[512, 2048].flatMap((length) =>
    [false, true].map((causal) =>
      attentionCase({ numHeads, headDim, queries: length, keys: length, causal }),
    ),
  ),
  attentionCase({ numHeads, headDim, queries: 1, keys: 8192, causal: false }),
]);

export const cases = [
  ...rowCases.map((row) => ({ ...row, bytes: 4 * row.moved * rows * columns })),
  ...attentionCases,
];
