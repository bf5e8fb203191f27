import { testFarRows, testStreams, testTwoGpus } from "@warpwright/testing/vitest";
import { instances, packed, pair, placements } from "./callees.js";

// XC-01
testStreams(instances);

testFarRows(
  placements.filter((callee) => callee !== pair),
  [
    ["GL-01", "bfloat16", 74_907, 14_336],
    ["GL-01: wider rows", "bfloat16", 61_690, 17_408],
    ["misaligned rows", "bfloat16", 530_001, 4095],
  ],
);
testFarRows([packed], [["GE-09: beyond 2^32", "bfloat16", 149_911, 14_336]]);
testFarRows([pair], [["GL-01: flat", "bfloat16", 2 ** 20 + 1, 2048]]);

// GL-10
testTwoGpus(placements, {
  root: new URL("..", import.meta.url),
  imports: 'import { swiglu } from "@warpwright/swiglu";',
  expression: "swiglu(x)",
});
