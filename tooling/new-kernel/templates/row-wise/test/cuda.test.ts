import { testFarRows, testStreams, testTwoGpus } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

testStreams(callees, { sumsByAlignment: true });

testFarRows(callees, [
  ["short rows", "float16", 4_194_305, 512],
  ["long rows", "bfloat16", 1_048_641, 4096],
  ["misaligned rows", "bfloat16", 600_001, 4095],
]);

testTwoGpus(callees, {
  root: new URL("..", import.meta.url),
  imports: 'import { newKernel } from "@warpwright/new-kernel";',
  expression: "newKernel(x)",
});
