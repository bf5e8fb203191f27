// RN-22, LN-10
import { testTwoGpus } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

testTwoGpus(functions, {
  root: new URL("..", import.meta.url),
  imports: 'import { layernorm } from "@warpwright/layernorm";',
  // A norm of ones is 0, and the bias 1.
  expression: "layernorm(x, null, x.select(0, 0).clone(), { out: x })",
});
