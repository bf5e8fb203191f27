import { kindRefusals, type Refusal, testOptionErrors } from "@warpwright/testing/vitest";
import { attentionCallees, callees } from "./callees.js";

/** softmaxScale: above 0, which float32 has to hold; and a softcap that float32 makes 0 of. */
const numberRefusals: readonly Refusal[] = attentionCallees.flatMap((callee) => {
  const refuse = (name: string, values: readonly number[], wanted: string): Refusal[] =>
    values.map((value) => ({
      callee,
      fault: `a ${name} of ${value}`,
      spoil: () => ({ [name]: value }),
      error: `ERR_VALUE ${callee.op}: expected ${name} to be ${wanted}, got ${value}`,
    }));
  const scale = "softmaxScale";
  return [
    ...kindRefusals(callee, scale, "a number", ["undefined", "a number"]),
    ...refuse(scale, [0, -1, Number.NaN, Number.POSITIVE_INFINITY], "a finite number above 0"),
    ...refuse(scale, [1e300, 3.5e38], "a finite float32 number"),
    ...refuse(scale, [1e-46, Number.MIN_VALUE], "above 0 in float32"),
    ...refuse("softcap", [1e-46, Number.MIN_VALUE], "0, or above 0 in float32"),
  ];
});

// AT-30: windows below -1 are among the refusals of each.
testOptionErrors(callees, () => numberRefusals);
