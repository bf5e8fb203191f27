import { testFarRows, testStreams, testTwoGpus } from "@warpwright/testing/vitest";
import { callees, instances } from "./callees.js";

// XC-01
testStreams(instances);

testFarRows(callees, [
  ["GE-09", "bfloat16", 300_000, 14_336],
  ["GE-09: odd rows", "bfloat16", 530_001, 4095],
]);

// GL-10
testTwoGpus(callees, {
  root: new URL("..", import.meta.url),
  imports: 'import { gelu } from "@warpwright/gelu";',
  expression: "gelu(x)",
});
