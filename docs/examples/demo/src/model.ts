import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadSafetensors, type Tensor } from "@warpwright/runtime";

/** What config.json says of the model, in Hugging Face's words. */
export interface Config {
  hidden_size: number;
  num_hidden_layers: number;
  num_attention_heads: number;
  num_key_value_heads: number;
  head_dim: number;
  rms_norm_eps: number;
  rope_parameters: { rope_theta: number };
}

/** The checkpoint, and what PyTorch computed with it in float64 for one prompt. */
export interface Model {
  config: Config;
  /** Parameters in bfloat16, on the CPU, by their names in the checkpoint. */
  weights: ReadonlyMap<string, Tensor>;
  prompt: string;
  /** hidden.i before layer i, hidden.5 after the last norm, logits, greedy_ids: see train.py. */
  expected: ReadonlyMap<string, Tensor>;
}

const folder = new URL("../model/", import.meta.url);

function file(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

export async function loadModel(): Promise<Model> {
  const config = JSON.parse(readFileSync(file("config.json"), "utf8")) as Config;
  const checkpoint = await loadSafetensors(file("model.safetensors"));
  const expected = await loadSafetensors(file("expected.safetensors"));
  return {
    config,
    weights: checkpoint.tensors,
    prompt: expected.metadata["prompt"] ?? "",
    expected: expected.tensors,
  };
}

/** A tensor of the map, which has it unless the files are not the model's. */
export function named(tensors: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const tensor = tensors.get(name);
  if (tensor === undefined) throw new Error(`demo: the model has no tensor ${name}`);
  return tensor;
}
