import { testFarRows, testStreams, testTwoGpus } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

// XC-01, XC-03, HD-16: an amax that is not of this launch would not be the replayed one's. A warp,
// a block, a cluster, and a block that reads its row twice.
testStreams(callees, {
  shapes: [
    [300, 768],
    [200, 4096],
    [64, 40_000],
    [8, 131_072],
    [3, 300_000],
  ],
});

testFarRows(callees, [
  ["RN-01: short rows", "float16", 4_194_305, 512],
  ["RN-01: long rows", "float16", 175_000, 12_288],
  ["RN-02: rows of one warp", "bfloat16", 2 ** 23 + 16, 256],
  ["RN-03: the far-row case of 8.6 GB", "bfloat16", 1_048_641, 4096],
  ["rows of a cluster", "bfloat16", 40_000, 65_536],
]);

// RN-22
testTwoGpus(callees, {
  root: new URL("..", import.meta.url),
  imports: 'import { rmsnormRhtAmax } from "@warpwright/rmsnorm-rht-amax";',
  expression: "rmsnormRhtAmax(x, x.select(0, 0).clone()).out",
});
