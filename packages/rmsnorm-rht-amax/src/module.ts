import type { Tensor } from "@warpwright/runtime";
import {
  checkDevice,
  checkDtype,
  checkHiddenSize,
  checkOptions,
  checkTensor,
  streamFor,
  unsupportedError,
} from "@warpwright/runtime/kernel";
import {
  type CallOptions,
  checkInputs,
  checkOutputs,
  hiddenSizeOf,
  type Operands,
  run,
  type Scalars,
  type Settings,
} from "./forward.js";
import { cachedPlan, type Plan } from "./plans.js";
import { defaultNumThreads } from "./rules.js";

interface Tensors {
  /** (..., hiddenSize), float32, float16 or bfloat16; hiddenSize a multiple of 16. */
  x: Tensor;
  /** (hiddenSize), x's dtype or float32. */
  weight: Tensor;
  /** Like x; may be x. */
  out: Tensor;
  /** Float32, of shape [rows / rowsPerCta]. */
  amax: Tensor;
}

/** Tensors such as those that the calls will have, which are looked at and not kept. */
export interface RmsnormRhtAmaxSamples extends Tensors, Scalars {}

/** The tensors of one call. */
export interface RmsnormRhtAmaxExecution extends Tensors, CallOptions {}

const name = "RmsnormRhtAmax";
const tensorNames = ["x", "weight", "out", "amax"] as const;
const sampleNames = [...tensorNames, "eps", "numThreads", "rowsPerCta", "signs", "nan"];
const executionNames = [...tensorNames, "stream"];

/**
 * rmsnormRhtAmax for calls alike, prepared once: the class of cuDNN frontend's
 * `RmsNormRhtAmaxSm100`. The samples fix the device, the dtypes, the hidden size and, if it is left
 * out, `rowsPerCta`; the number of rows may be another in each call, a multiple of `rowsPerCta`.
 * Nothing is allocated by `execute`, so that it may be captured in a graph.
 *
 * @example
 * import { RmsnormRhtAmax } from "@warpwright/rmsnorm-rht-amax";
 * import { empty, ones } from "@warpwright/runtime";
 *
 * const [x, weight] = [ones([4, 32]), ones([32])];
 * const [out, amax] = [empty([4, 32]), empty([2])];
 * const norm = new RmsnormRhtAmax({ x, weight, out, amax, rowsPerCta: 2 });
 * norm.compile();
 * norm.execute({ x, weight, out, amax });
 * console.log(await amax.data());
 */
export class RmsnormRhtAmax {
  /**
   * What cuDNN frontend would run with: the number that was asked for, or else that of its table
   * or its search; undefined where it has none. A number that was not asked for binds nobody here.
   */
  readonly numThreads: number | undefined;
  /** Rows that share an amax; undefined if the samples do not fit each other. */
  readonly rowsPerCta: number | undefined;
  readonly #outcome: { plan: Plan } | { fault: unknown };
  #plan: Plan | undefined;

  /**
   * @throws TypeError ERR_KIND for what is no object, RangeError ERR_VALUE for an unknown option.
   *   Whatever else is wrong, checkSupport says.
   */
  constructor(samples: RmsnormRhtAmaxSamples) {
    checkOptions(name, samples, sampleNames);
    const { x, weight, out, amax, eps, numThreads, rowsPerCta, signs, nan } = samples;
    const scalars = { eps, numThreads, rowsPerCta, signs, nan };
    this.#outcome = planOf({ x, weight, out, amax }, scalars);
    if (!("plan" in this.#outcome)) return;
    const { plan } = this.#outcome;
    this.numThreads = numThreads ?? defaultNumThreads(plan.hiddenSize);
    this.rowsPerCta = plan.rowsPerCta;
  }

  /**
   * Whether there will be such calls: true, or it throws what is wrong with the samples.
   *
   * @throws TypeError ERR_KIND, ERR_DTYPE; RangeError ERR_SHAPE, ERR_VALUE, ERR_OVERLAP; Error
   *   ERR_DEVICE, ERR_DISPOSED, ERR_UNSUPPORTED
   */
  checkSupport(): true {
    if ("fault" in this.#outcome) throw this.#outcome.fault;
    return true;
  }

  /**
   * Makes ready for `execute`. What it finds out is kept for all objects alike, by device.
   *
   * @throws as checkSupport; Error ERR_LOAD
   */
  compile(): void {
    if ("fault" in this.#outcome) throw this.#outcome.fault;
    this.#plan ??= cachedPlan(this.#outcome.plan);
  }

  /**
   * Writes `out` and `amax`.
   *
   * @throws as rmsnormRhtAmax; Error ERR_UNSUPPORTED before compile
   */
  execute(tensors: RmsnormRhtAmaxExecution): void {
    const op = `${name}.execute`;
    const plan = this.#plan;
    if (plan === undefined) throw unsupportedError(`${op}: expected compile to be called first`);
    checkOptions(op, tensors, executionNames);
    const { x, weight, out, amax, stream } = tensors;
    checkHiddenSize(op, "x", x, plan.hiddenSize);
    checkDtype(op, "x", x, plan.dtype);
    checkDevice(op, "x", x, plan.device);
    checkTensor(op, "weight", weight);
    checkDtype(op, "weight", weight, plan.weightDtype);
    checkAll(op, { x, weight, out, amax }, { ...plan, numThreads: plan.numThreads || undefined });
    run({ x, weight, out, amax }, plan, streamFor(op, plan.device, stream));
  }
}

/** Checks all tensors of a call, none of which may be left out. */
function checkAll(op: string, tensors: Operands, scalars: Scalars): Settings {
  for (const each of tensorNames) checkTensor(op, each, tensors[each]);
  const settings = checkInputs(op, tensors.x, tensors.weight, scalars);
  checkOutputs(op, tensors, settings);
  return settings;
}

function planOf(tensors: Operands, scalars: Scalars): { plan: Plan } | { fault: unknown } {
  try {
    const settings = checkAll(name, tensors, scalars);
    const { device, dtype } = tensors.x;
    const kind = { device, dtype, weightDtype: tensors.weight.dtype };
    return { plan: { ...settings, ...kind, hiddenSize: hiddenSizeOf(tensors.x) } };
  } catch (fault) {
    return { fault };
  }
}
