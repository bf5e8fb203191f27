// The model, with everything but its matrix products in kernels.
import { attention } from "@warpwright/attention";
import { geglu } from "@warpwright/geglu";
import { addRmsnorm, rmsnorm } from "@warpwright/rmsnorm";
import { type RopeTables, ropeQK, ropeTables } from "@warpwright/rope";
import { type Device, type Tensor, tensor, tidy, zeros } from "@warpwright/runtime";
import { linear, linearTensor, type Matrix, matrixOf } from "./linear.js";
import { type Model, named } from "./model.js";

interface Layer {
  inputNorm: Tensor;
  postNorm: Tensor;
  qkv: Matrix;
  o: Matrix;
  gateUp: Matrix;
  down: Matrix;
  /** Of all tokens so far: [1, maxTokens, kv heads, head_dim]. */
  keys: Tensor;
  values: Tensor;
}

/** What kernels read in one layer; tensors that last until `observe` returns. */
export interface Activations {
  /** [tokens, hidden_size] */
  hidden: Tensor;
  /** [1, tokens, heads and twice the kv heads, head_dim], not rotated */
  qkv: Tensor;
  /** [1, tokens, heads, head_dim] and [1, tokens, kv heads, head_dim], rotated */
  q: Tensor;
  k: Tensor;
  /** [tokens, 2 * intermediate_size], the gate first */
  gateUp: Tensor;
  /** [hidden_size] */
  inputNorm: Tensor;
  postNorm: Tensor;
}

export interface Observer {
  layer(index: number, activations: Activations): void;
  /** The output of the last norm. */
  end(normed: Tensor): void;
}

/** In float32, with a cache of keys and values: each call goes on behind the last one. */
export class Gemma {
  readonly #model: Model;
  readonly #device: Device;
  readonly #tables: RopeTables;
  readonly #layers: readonly Layer[];
  readonly #embedding: Matrix;
  readonly #lastNorm: Tensor;
  #length = 0;

  constructor(model: Model, device: Device, maxTokens: number) {
    const { head_dim: dim, num_hidden_layers: numLayers, rope_parameters } = model.config;
    const shape = [1, maxTokens, model.config.num_key_value_heads, dim];
    this.#model = model;
    this.#device = device;
    this.#tables = ropeTables({
      ...{ dim, maxPositions: maxTokens, theta: rope_parameters.rope_theta, device },
    });
    this.#embedding = matrixOf(named(model.weights, "model.embed_tokens.weight"));
    this.#lastNorm = this.#norm("model.norm");
    this.#layers = Array.from({ length: numLayers }, (_, i) => {
      const name = `model.layers.${i}`;
      const matrix = (...names: string[]) =>
        matrixOf(...names.map((part) => named(model.weights, `${name}.${part}_proj.weight`)));
      return {
        inputNorm: this.#norm(`${name}.input_layernorm`),
        postNorm: this.#norm(`${name}.post_attention_layernorm`),
        qkv: matrix("self_attn.q", "self_attn.k", "self_attn.v"),
        o: matrix("self_attn.o"),
        gateUp: matrix("mlp.gate", "mlp.up"),
        down: matrix("mlp.down"),
        keys: zeros(shape, { device }),
        values: zeros(shape, { device }),
      };
    });
  }

  #norm(name: string): Tensor {
    return named(this.#model.weights, `${name}.weight`).to({
      ...{ dtype: "float32", device: this.#device },
    });
  }

  /** Logits [tokens, vocabulary] for the tokens that follow these. */
  forward(ids: readonly number[], observer?: Observer): Float32Array {
    return tidy(() => {
      const options = { eps: this.#model.config.rms_norm_eps, weightOffset: 1 };
      let hidden = this.#embed(ids);
      let normed = rmsnorm(hidden, this.#layers[0]!.inputNorm, options);
      for (const [i, layer] of this.#layers.entries()) {
        const qkv = linearTensor(normed, layer.qkv);
        const { seen, ...rotated } = this.#attend(qkv, layer);
        const mixed = addRmsnorm(linearTensor(seen, layer.o), hidden, layer.postNorm, options);
        const gateUp = linearTensor(mixed.out, layer.gateUp);
        const change = linearTensor(geglu(gateUp, { approximate: "tanh" }), layer.down);
        const { inputNorm, postNorm } = layer;
        observer?.layer(i, { hidden, gateUp, inputNorm, postNorm, ...rotated });
        const norm = this.#layers[i + 1]?.inputNorm ?? this.#lastNorm;
        const next = addRmsnorm(change, mixed.residual, norm, options);
        [hidden, normed] = [next.residual, next.out];
      }
      observer?.end(normed);
      this.#length += ids.length;
      return linear(normed, this.#embedding); // tied: the embedding is the output's matrix too
    });
  }

  /** Gemma scales the embedding by the root of its size. */
  #embed(ids: readonly number[]): Tensor {
    const { columns, values } = this.#embedding;
    const rows = ids.map((id) => values.subarray(id * columns, (id + 1) * columns));
    const scaled = rows.flatMap((row) => Array.from(row, (value) => value * Math.sqrt(columns)));
    return tensor(scaled, { shape: [ids.length, columns], device: this.#device });
  }

  #attend(fused: Tensor, { keys, values }: Layer) {
    const { num_attention_heads: heads, num_key_value_heads: headsKv } = this.#model.config;
    const tokens = fused.shape[0]!;
    const [start, end] = [this.#length, this.#length + tokens];
    const qkv = fused.view([1, tokens, heads + 2 * headsKv, -1]);
    const [q, k, v] = qkv.split([heads, headsKv, headsKv], 2);
    const { cos, sin } = this.#tables;
    // The rotated keys go straight into the cache.
    const kOut = keys.narrow(1, start, tokens);
    const rotated = ropeQK(q!, k!, cos, sin, { offset: start, kOut });
    values.narrow(1, start, tokens).copyFrom(v!);
    const cached = [keys, values].map((cache) => cache.narrow(1, 0, end));
    const seen = attention(rotated.q, cached[0]!, cached[1]!, { causal: true });
    return { qkv, ...rotated, seen };
  }
}
