import { kindRefusals, type Refusal, testOptionErrors } from "@warpwright/testing/vitest";
import { attentionCallees, callees } from "./callees.js";

/** softmaxScale: above 0, which float32 has to hold. */
const scaleRefusals: readonly Refusal[] = attentionCallees.flatMap((callee) => {
  const refuse = (values: readonly number[], wanted: string): Refusal[] =>
    values.map((value) => ({
      callee,
      fault: `a softmaxScale of ${value}`,
      spoil: () => ({ softmaxScale: value }),
      error: `ERR_VALUE ${callee.op}: expected softmaxScale to be ${wanted}, got ${value}`,
    }));
  return [
    ...kindRefusals(callee, "softmaxScale", "a number", ["undefined", "a number"]),
    ...refuse([0, -1, Number.NaN, Number.POSITIVE_INFINITY], "a finite number above 0"),
    ...refuse([1e300, 3.5e38], "a finite float32 number"),
    ...refuse([1e-46, Number.MIN_VALUE], "above 0 in float32"),
  ];
});

// AT-30: windows below -1 are among the refusals of each.
testOptionErrors(callees, () => scaleRefusals);
