import { type Refusal, testOptionErrors } from "@warpwright/testing/vitest";
import { callees, functions, moduleCallee } from "./callees.js";

/** An offset that no weight takes. */
const offsetRefusals: readonly Refusal[] = [
  ...functions.flatMap((callee) =>
    [null, undefined].map((weight) => ({
      callee,
      fault: `a weightOffset beside a weight of ${weight}`,
      spoil: () => ({ weight, weightOffset: -0.5 }),
      error: `ERR_VALUE ${callee.op}: expected a weight beside a weightOffset of -0.5`,
    })),
  ),
  {
    callee: moduleCallee,
    fault: "a weightOffset without elementwiseAffine",
    spoil: () => ({ elementwiseAffine: false, weightOffset: 1 }),
    error: "ERR_VALUE RMSNorm: expected elementwiseAffine beside a weightOffset of 1",
  },
];

testOptionErrors([...callees, moduleCallee], () => offsetRefusals);
