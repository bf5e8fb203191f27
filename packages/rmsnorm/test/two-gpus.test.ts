// RN-22
import { testTwoGpus } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

testTwoGpus(functions, {
  root: new URL("..", import.meta.url),
  imports: 'import { rmsnorm } from "@warpwright/rmsnorm";',
  expression: "rmsnorm(x, null, { out: x })",
});
