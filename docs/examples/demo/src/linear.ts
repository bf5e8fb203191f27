import { type Device, type Tensor, tensor } from "@warpwright/runtime";

/** A matrix [rows, columns] in JavaScript's memory. */
export interface Matrix {
  rows: number;
  columns: number;
  values: Float32Array;
}

/** Matrices of as many columns each, one below the other. */
export function matrixOf(...parts: readonly Tensor[]): Matrix {
  const columns = parts[0]!.shape[1]!;
  const rows = parts.reduce((sum, part) => sum + part.shape[0]!, 0);
  const values = new Float32Array(rows * columns);
  let at = 0;
  for (const part of parts) {
    values.set(part.dataSync() as Float32Array, at);
    at += part.size;
  }
  return { rows, columns, values };
}

/**
 * `x weightᵀ`, [tokens, columns] to [tokens, rows]. Not a kernel but plain TypeScript, with sums in
 * float64: four million parameters are few enough.
 */
export function linear(x: Tensor, weight: Matrix): Float32Array {
  const { rows, columns, values } = weight;
  const inputs = x.dataSync() as Float32Array;
  const tokens = inputs.length / columns;
  const out = new Float32Array(tokens * rows);
  for (let token = 0; token < tokens; token++) {
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let i = 0; i < columns; i++) {
        sum += inputs[token * columns + i]! * values[row * columns + i]!;
      }
      out[token * rows + row] = sum;
    }
  }
  return out;
}

/** The same as a tensor where x is. */
export function linearTensor(x: Tensor, weight: Matrix): Tensor {
  const shape = [x.size / weight.columns, weight.rows];
  return tensor(linear(x, weight), { shape, device: x.device as Device });
}
