import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Device, loadSafetensors, type Tensor } from "@warpwright/runtime";

/** What config.json says of the model, in Hugging Face's words. */
interface Config {
  hidden_size: number;
  num_hidden_layers: number;
  rms_norm_eps: number;
}

/** The checkpoint, and what PyTorch computed with it in float64 for one prompt. */
export interface Model {
  hiddenSize: number;
  numLayers: number;
  eps: number;
  /** Parameters in bfloat16, on the device, by their names in the checkpoint. */
  weights: ReadonlyMap<string, Tensor>;
  prompt: string;
  /** hidden.0 is the scaled embedding, hidden.i the output of layer i: (tokens, hiddenSize). */
  expected: ReadonlyMap<string, Tensor>;
}

const folder = new URL("../model/", import.meta.url);

function file(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

export async function loadModel(device: Device): Promise<Model> {
  const config = JSON.parse(readFileSync(file("config.json"), "utf8")) as Config;
  const checkpoint = await loadSafetensors(file("model.safetensors"), { device });
  const expected = await loadSafetensors(file("expected.safetensors"));
  return {
    hiddenSize: config.hidden_size,
    numLayers: config.num_hidden_layers,
    eps: config.rms_norm_eps,
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
