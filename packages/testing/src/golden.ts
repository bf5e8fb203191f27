import { fileURLToPath } from "node:url";

import { type Device, fromBytes, type Tensor } from "@warpwright/runtime";

import { type Compared, checkErrors, describeElement, fail } from "./compare.js";
import { type FloatDType, isFloat, valuesOf } from "./float64.js";
import { type GoldenFile, type RecordedCase, readGolden } from "./golden-file.js";
import { allowedBy, tolerances } from "./tolerance.js";
import { ulpDistance } from "./ulp.js";

/** The kernels that have golden files. */
export type GoldenKernel =
  | "attention"
  | "geglu"
  | "gelu"
  | "layernorm"
  | "rmsnorm"
  | "rmsnorm-rht-amax"
  | "rope";

/** Results that are float32 whatever the inputs are. */
const float32Results = new Set(["rstd", "mean", "amax", "lse"]);

/**
 * Which errors {@link checkGolden} accepts.
 *
 * - `float64`: the stored value is float64's, so a float32 kernel that rounds once is within
 *   `tolerances.roundedOnce` of it.
 * - `rounded`: the contract fixes every rounding and the stored value went through them all: at
 *   most 0.2 % of the elements differ, and none by more than 2 ulp.
 * - `absolute`: within `bound` of the value; attention's `out` has twice PyTorch's error + 1e-5.
 */
export type GoldenRule =
  | { kind: "float64" }
  | { kind: "rounded" }
  | { kind: "absolute"; bound: number };

/** One expected result of a case. */
export interface GoldenValue {
  /** `<case>/<result>`, for messages. */
  name: string;
  /** Row-major, not rounded to `dtype` except under the `rounded` rule. */
  data: Float32Array;
  shape: readonly number[];
  /** What the kernel's result has to be. */
  dtype: FloatDType;
  rule: GoldenRule;
}

/** One recorded call and PyTorch's answer to it. */
export interface GoldenCase<Options extends object = Record<string, unknown>> {
  name: string;
  /** The kernel's name, which is the file's. */
  op: string;
  /** As the kernel's function takes them; an option left out has its default. */
  options: Options;
  /** Made on the chosen device at first use, and made anew at the next one after a dispose. */
  readonly inputs: Readonly<Record<string, Tensor>>;
  /** Read at first use. Optional outputs (`rstd`, `mean`, `amax`, `lse`) are among them. */
  readonly expected: Readonly<Record<string, GoldenValue>>;
  /** Largest absolute error, by result, of PyTorch's eager formula in the inputs' dtype. */
  torchErr: Readonly<Record<string, number>>;
  /** Disposes the inputs made so far. */
  dispose(): void;
}

export interface GoldenOptions {
  /** Where the inputs are made. Default "cpu". */
  device?: Device;
  /** Folder of the .safetensors files. Default: the repository's packages/testing/golden. */
  directory?: string | URL;
}

/**
 * The recorded cases of a kernel, in the file's order. The file is read by this call, tensors are
 * made when a case's `inputs` are first used: so a list for `test.each` costs little.
 *
 * @throws Error ERR_FILE where the folder has no such file, or one that is no golden file
 * @example
 * import { goldenCases } from "@warpwright/testing";
 *
 * for (const { name, options, inputs } of goldenCases("rmsnorm")) {
 *   console.log(name, options, inputs.x?.shape);
 * }
 */
export function goldenCases<Options extends object = Record<string, unknown>>(
  kernel: GoldenKernel,
  { device = "cpu", directory = new URL("../golden/", import.meta.url) }: GoldenOptions = {},
): GoldenCase<Options>[] {
  const folder = directory instanceof URL ? fileURLToPath(directory) : directory;
  const file = readGolden(`${folder.replace(/\/$/, "")}/${kernel}.safetensors`);
  return file.cases.map((recorded) => openCase<Options>(file, recorded, device));
}

/**
 * Throws unless a kernel's result agrees with a golden value: the same dtype, the same shape, and
 * each element within the value's rule. NaN must meet NaN and an infinity the same infinity. The
 * call waits for the tensor's device.
 *
 * @throws AssertionError naming the case and the worst element
 * @example
 * import { tensor } from "@warpwright/runtime";
 * import { checkGolden, goldenCases } from "@warpwright/testing";
 *
 * const [{ expected }] = goldenCases("gelu");
 * const { data, shape, dtype } = expected.out;
 * checkGolden(tensor(data, { shape, dtype }), expected.out); // a kernel's result in its place
 */
export function checkGolden(actual: Tensor, expected: GoldenValue): void {
  const { name, data, shape, dtype, rule } = expected;
  if (actual.dtype !== dtype) {
    fail(`${name}: expected dtype ${dtype}, got ${actual.dtype}`, actual.dtype, dtype);
  }
  if (String(actual.shape) !== String(shape)) {
    const [wanted, got] = [shape.join(", "), actual.shape.join(", ")];
    fail(`${name}: expected shape [${wanted}], got [${got}]`, actual.shape, shape);
  }
  const values = valuesOf(actual);
  const compared: Compared = { name, dtype, shape };
  if (rule.kind === "rounded") checkRounded(values, data, compared);
  else checkErrors(values, data, compared, allowed(rule, dtype, data));
}

function openCase<Options extends object>(
  file: GoldenFile,
  recorded: RecordedCase,
  device: Device,
): GoldenCase<Options> {
  const inputs: Record<string, Tensor> = {};
  let expected: Record<string, GoldenValue> | undefined;
  return {
    name: recorded.name,
    op: recorded.op,
    options: recorded.options as Options,
    torchErr: recorded.torch_err,
    get inputs() {
      for (const [argument, stored] of Object.entries(recorded.inputs)) {
        if (inputs[argument]?.disposed === false) continue;
        const { bytes, shape, dtype } = file.tensor(stored);
        inputs[argument] = fromBytes(bytes, { shape, dtype, device });
      }
      return inputs;
    },
    get expected() {
      expected ??= readExpected(file, recorded);
      return expected;
    },
    dispose() {
      for (const input of Object.values(inputs)) input.dispose();
    },
  };
}

function readExpected(file: GoldenFile, recorded: RecordedCase): Record<string, GoldenValue> {
  const first = file.tensor(Object.values(recorded.inputs)[0]!).dtype;
  const inputDtype = isFloat(first) ? first : "float32";
  const values: Record<string, GoldenValue> = {};
  for (const [result, stored] of Object.entries(recorded.expected)) {
    const { bytes, shape } = file.tensor(stored);
    values[result] = {
      name: `${recorded.name}/${result}`,
      // A copy: the file's tensors need not start at a multiple of four bytes.
      data: new Float32Array(Uint8Array.from(bytes).buffer),
      shape,
      dtype: float32Results.has(result) ? "float32" : inputDtype,
      rule: ruleFor(result, recorded),
    };
  }
  return values;
}

function ruleFor(result: string, { op, options, torch_err }: RecordedCase): GoldenRule {
  if (op === "attention" && result === "out") {
    return { kind: "absolute", bound: 2 * torch_err.out! + 1e-5 };
  }
  return "casting" in options && options.casting === "llama"
    ? { kind: "rounded" }
    : { kind: "float64" };
}

function allowed(
  rule: Exclude<GoldenRule, { kind: "rounded" }>,
  dtype: FloatDType,
  data: Float32Array,
): (y: number) => number {
  const tolerance = rule.kind === "absolute" ? { atol: rule.bound } : tolerances.roundedOnce[dtype];
  return allowedBy(tolerance, dtype, data);
}

function checkRounded(actual: Float64Array, expected: Float32Array, compared: Compared): void {
  const { name, dtype } = compared;
  let different = 0;
  let worst = 0;
  let worstDistance = 0;
  for (let i = 0; i < expected.length; i++) {
    const distance = ulpDistance(dtype, actual[i]!, expected[i]!);
    if (distance > 0) different++;
    if (distance > worstDistance) [worst, worstDistance] = [i, distance];
  }
  if (worstDistance <= 2 && different <= 0.002 * expected.length) return;
  const [got, wanted] = [actual[worst]!, expected[worst]!];
  const what = describeElement(worst, got, wanted, compared);
  const bound = "allowed 0.2 % of them, by at most 2 ulp";
  fail(`${name}: ${different} of ${expected.length} differ; worst ${what}; ${bound}`, got, wanted);
}
