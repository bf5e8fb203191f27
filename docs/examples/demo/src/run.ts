// The model's prompt and what it writes behind it, compared with PyTorch's.
import { valuesOf } from "@warpwright/testing";
import type { Comparison } from "./check.js";
import type { Gemma } from "./gemma.js";
import { type Recording, recorded } from "./kernels.js";
import { type Model, named } from "./model.js";

/** Where the hidden states, or the logits, are compared. */
export interface Stage extends Comparison {
  name: string;
  shape: readonly number[];
}

export interface PromptRun {
  /** What kernels read in each layer. */
  layers: readonly Recording[];
  stages: readonly Stage[];
  /** The token that is most likely to follow. */
  next: number;
}

// Of the largest value: float32 has 6e-8, and what one layer rounds the next ones amplify.
const tolerance = 1e-5;

/** Runs the prompt, and compares what goes in and comes out of each layer. */
export function runPrompt(gemma: Gemma, model: Model, ids: readonly number[]): PromptRun {
  const layers: Recording[] = [];
  const stages: Stage[] = [];
  const add = (name: string, key: string, values: Float32Array) => {
    const expected = named(model.expected, key);
    stages.push({ name, shape: expected.shape, ...compareWith(valuesOf(expected), values) });
  };
  const logits = gemma.forward(ids, {
    layer(index, inputs) {
      const names = Object.keys(inputs) as (keyof Recording)[];
      layers.push(
        Object.fromEntries(names.map((name) => [name, recorded(inputs[name])])) as Recording,
      );
      const name = index === 0 ? "embedding" : `after layer ${index}`;
      add(name, `hidden.${index}`, layers.at(-1)!.hidden.values);
    },
    end(normed) {
      add("after the last norm", `hidden.${layers.length}`, recorded(normed).values);
    },
  });
  add("logits", "logits", logits);
  return { layers, stages, next: likeliest(logits, ids.length) };
}

function compareWith(expected: ArrayLike<number>, actual: Float32Array): Comparison {
  let [error, largest] = [0, 0];
  actual.forEach((value, i) => {
    const difference = Math.abs(value - expected[i]!);
    if (!(difference <= error)) error = difference;
    largest = Math.max(largest, Math.abs(expected[i]!));
  });
  return { error, allowed: tolerance * largest };
}

/** The token that the last of so many rows of logits makes most likely. */
function likeliest(logits: Float32Array, rows: number): number {
  const last = logits.subarray(logits.length - logits.length / rows);
  return last.reduce((best, value, token) => (value > last[best]! ? token : best), 0);
}

/** `count` tokens from `next` on, each the likeliest behind those before it. */
export function continuePrompt(gemma: Gemma, next: number, count: number): number[] {
  const written: number[] = [];
  for (let token = next; written.length < count; ) {
    written.push(token);
    token = likeliest(gemma.forward([token]), 1);
  }
  return written;
}
