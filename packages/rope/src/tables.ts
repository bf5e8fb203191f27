import { type Device, type DType, type Tensor, tensor, tidy } from "@warpwright/runtime";
import {
  checkFinite,
  checkOptions,
  newFilled,
  parseFloatDType,
  unsupportedError,
  valueError,
} from "@warpwright/runtime/kernel";
import { maxHeadDim } from "./checks.js";
import { type Frequencies, frequenciesOf, type RopeScaling } from "./scaling.js";
import { checkScaling } from "./scaling-checks.js";

export interface RopeTablesOptions {
  /** Columns that are rotated: head_dim, or rotaryDim where it is less. An even number. */
  dim: number;
  /** Positions from 0 on that the tables have a row for. */
  maxPositions: number;
  /** The base of the frequencies, rope_theta. Default 10000. */
  theta?: number | undefined;
  /** For contexts longer than the model was trained with. Default: none. */
  scaling?: RopeScaling | undefined;
  /** Default "cpu". */
  device?: Device | undefined;
  /** float32, float16 or bfloat16. Default "float32", which is right for every dtype of x. */
  dtype?: DType | undefined;
}

export interface RopeTables {
  cos: Tensor;
  sin: Tensor;
}

const optionNames = ["dim", "maxPositions", "theta", "scaling", "device", "dtype"];

// Elements that are formed, converted and copied at a time.
const chunkElements = 2 ** 18;

/**
 * The tables that rope takes: cosine and sine of `position * frequency`, with frequencies
 * `theta ** (-2 i / dim)` (Su et al., 2021, arXiv:2104.09864), or those that `scaling` makes of
 * them, as transformers' modeling_rope_utils.py has them. Formed in float64 and rounded once; the
 * attention factor of "yarn" and "longrope" is multiplied in. The length that "dynamic" and
 * "longrope" depend on is maxPositions.
 *
 * @returns cos and sin, each [maxPositions, dim / 2]
 * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_VALUE; Error ERR_DEVICE,
 *   ERR_UNSUPPORTED (a dim above 2^24)
 *
 * @example
 * import { ropeTables } from "@warpwright/rope";
 *
 * const llama31 = ropeTables({
 *   dim: 128,
 *   maxPositions: 4096,
 *   theta: 500_000,
 *   scaling: {
 *     type: "llama3",
 *     factor: 8,
 *     lowFreqFactor: 1,
 *     highFreqFactor: 4,
 *     originalMaxPositionEmbeddings: 8192,
 *   },
 * });
 * console.log(llama31.cos.shape); // [4096, 64]
 */
export function ropeTables(options: RopeTablesOptions): RopeTables {
  const op = "ropeTables";
  checkOptions(op, options, optionNames);
  const { dim, maxPositions, theta = 10_000 } = options;
  const { scaling, device = "cpu", dtype = "float32" } = options;
  checkFinite(op, "dim", dim, { min: 2, integer: true });
  if (dim % 2 !== 0) throw valueError(`${op}: expected dim to be even, got ${dim}`);
  if (dim > maxHeadDim) {
    throw unsupportedError(`${op}: expected dim of at most ${maxHeadDim}, got ${dim}`);
  }
  checkFinite(op, "maxPositions", maxPositions, { min: 1, integer: true });
  checkFinite(op, "theta", theta, { above: 0 });
  const given = checkScaling(op, scaling, dim);
  const tableDType = parseFloatDType(op, dtype);
  const formed = frequenciesOf({ dim, theta, maxPositions }, given);
  if (!formed.frequencies.every(Number.isFinite) || !Number.isFinite(formed.attentionFactor)) {
    throw valueError(`${op}: expected theta and scaling to give finite frequencies`);
  }

  return tidy(() => {
    const shape = [maxPositions, dim / 2];
    const cos = newFilled(op, shape, 0, tableDType, device) as Tensor;
    const sin = newFilled(op, shape, 0, tableDType, device) as Tensor;
    const rows = Math.max(1, Math.floor(chunkElements / (dim / 2)));
    for (let begin = 0; begin < maxPositions; begin += rows) {
      fillRows(cos, sin, begin, Math.min(rows, maxPositions - begin), formed);
    }
    return { cos, sin };
  });
}

/** Rows `begin` to `begin + count` of both tables. */
function fillRows(
  cos: Tensor,
  sin: Tensor,
  begin: number,
  count: number,
  { frequencies, attentionFactor }: Frequencies,
): void {
  const width = frequencies.length;
  const [cosines, sines] = [new Float64Array(count * width), new Float64Array(count * width)];
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < width; i++) {
      const angle = (begin + row) * frequencies[i]!;
      cosines[row * width + i] = attentionFactor * Math.cos(angle);
      sines[row * width + i] = attentionFactor * Math.sin(angle);
    }
  }
  tidy(() => {
    const shape = [count, width];
    const { dtype } = cos;
    cos.narrow(0, begin, count).copyFrom(tensor(cosines, { shape, dtype }));
    sin.narrow(0, begin, count).copyFrom(tensor(sines, { shape, dtype }));
  });
}
