import { type FloatDType, floatDTypes } from "../float64.js";

/** What the tensors of a function that works on rows are to each other. */
export type TensorKind = "rows" | "parameter" | "statistic" | "other";

/** A tensor that a function takes or, if it is given, writes. */
export interface TensorArgument {
  /**
   * "rows": a part of every row; "parameter": what all rows share, such as a weight; "statistic":
   * a number for every row.
   */
  kind: TensorKind;
  /** For the sizes before a row, and the size of one. */
  shape(rows: readonly number[], size: number): readonly number[];
  /** The first input's dtype, float32, either of them, or any of the three. */
  dtype: "same" | "float32" | "either" | "any";
  /** What it may be beside a tensor, as errors describe it. */
  absent: readonly string[];
  /** Of an input: whether it is among the options. */
  isOption: boolean;
  /** Of an output: the inputs that it may be exactly. Default: those of its shape and dtype. */
  mayBe?: readonly string[];
  /** Shapes that are refused, and what is wanted instead. Default: a list for all arguments. */
  refused?: readonly RefusedShape[];
}

export type RefusedShape = readonly [fault: string, shape: readonly number[], wanted: string];

export type ArgumentSettings = Partial<Omit<TensorArgument, "kind">> & {
  /** Of rows: how many times as long as the others' they are. Default 1. */
  width?: number;
};

/**
 * A tensor of rows, such as x, of the first input's dtype.
 *
 * @example
 * import { rows } from "@warpwright/testing/vitest";
 *
 * console.log(rows({ width: 2 }).shape([4], 8)); // [4, 16]: gate and up side by side
 */
export function rows({ width = 1, ...more }: ArgumentSettings = {}): TensorArgument {
  return argument("rows", { shape: (outer, size) => [...outer, width * size], ...more });
}

/**
 * What all rows share, such as a weight: of the first input's dtype or float32; may be left out.
 *
 * @example
 * import { rowParameter } from "@warpwright/testing/vitest";
 *
 * console.log(rowParameter().shape([4], 8)); // [8]
 */
export function rowParameter(more: ArgumentSettings = {}): TensorArgument {
  const absent = ["undefined", "null"];
  return argument("parameter", { shape: (_, size) => [size], dtype: "either", absent, ...more });
}

/**
 * A float32 output with one number for each row, such as rstd.
 *
 * @example
 * import { rowStatistic } from "@warpwright/testing/vitest";
 *
 * console.log(rowStatistic().shape([4], 8)); // [4]
 */
export function rowStatistic(more: ArgumentSettings = {}): TensorArgument {
  return argument("statistic", { shape: (outer) => outer, dtype: "float32", ...more });
}

function argument(
  kind: TensorKind,
  settings: ArgumentSettings & Pick<TensorArgument, "shape">,
): TensorArgument {
  return { kind, dtype: "same", absent: [], isOption: false, ...settings };
}

/** The dtypes that the argument may have beside a first input of `dtype`. */
export function allowedDTypes({ dtype: rule }: TensorArgument, dtype: FloatDType): FloatDType[] {
  if (rule === "any") return [...floatDTypes];
  if (rule === "float32" || dtype === "float32") return ["float32"];
  return rule === "same" ? [dtype] : [dtype, "float32"];
}

/** Whether an output of the second may be exactly an input of the first, if nothing is said. */
export function isAlike(a: TensorArgument, b: TensorArgument): boolean {
  const [shapeA, shapeB] = [a, b].map(({ shape }) => shape([2], 8).join());
  return shapeA === shapeB && a.dtype === "same" && b.dtype === "same";
}
