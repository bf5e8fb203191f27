// What compile() finds out, kept by all that it depends on.
import type { DeviceName, DType } from "@warpwright/runtime";
import type { Settings } from "./forward.js";
import { native } from "./native.js";

/** Calls of one kind; the number of rows is none of it. */
export interface Plan extends Settings {
  device: DeviceName;
  dtype: DType;
  weightDtype: DType;
  hiddenSize: number;
}

// Far more kinds of calls than a program has, unless it makes up a new eps for each.
const maxPlans = 1024;

const plans = new Map<string, Plan>();

/** The plan like this one that was ready first, or this one, made ready. */
export function cachedPlan(plan: Plan): Plan {
  const { device, dtype, weightDtype, hiddenSize } = plan;
  const { eps, numThreads, rowsPerCta, signs, nan } = plan;
  const kind = [device, dtype, weightDtype, hiddenSize];
  const key = [...kind, eps, numThreads, rowsPerCta, signs, nan].join();
  const known = plans.get(key);
  if (known !== undefined) return known;
  native(); // an addon that does not load says so now
  if (plans.size === maxPlans) plans.clear();
  plans.set(key, plan);
  return plan;
}
