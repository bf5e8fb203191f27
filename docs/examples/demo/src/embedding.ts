import { cat, type Tensor } from "@warpwright/runtime";
import { type Model, named } from "./model.js";

/** How far the embedding of the prompt is from what PyTorch recorded. */
export interface EmbeddingCheck {
  tokens: number;
  /** Largest difference of hidden.0. */
  error: number;
}

/**
 * Embeds the prompt, whose tokens are its bytes, with the checkpoint's table on its device, scales
 * by the root of the hidden size as Gemma does, and compares with hidden.0.
 */
export async function checkEmbedding(model: Model): Promise<EmbeddingCheck> {
  const table = named(model.weights, "model.embed_tokens.weight");
  const ids = new TextEncoder().encode(model.prompt);
  const rows: Tensor[] = Array.from(ids, (id) => table.narrow(0, id, 1));
  const embedded = cat(rows, 0);
  const values = (await embedded.data()) as Float32Array;
  const expected = (await named(model.expected, "hidden.0").data()) as Float32Array;
  for (const tensor of [...rows, embedded]) tensor.dispose();

  const scale = Math.sqrt(model.hiddenSize);
  let error = 0;
  for (let i = 0; i < expected.length; i++) {
    error = Math.max(error, Math.abs(values[i]! * scale - expected[i]!));
  }
  return { tokens: ids.length, error };
}
