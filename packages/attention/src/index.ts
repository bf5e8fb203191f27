export { attention, attentionWithLse } from "./attention.js";
export type { AttentionOptions } from "./forward.js";
export type { Layout } from "./geometry.js";
export { type MergeAttentionOptions, mergeAttention } from "./merge.js";
