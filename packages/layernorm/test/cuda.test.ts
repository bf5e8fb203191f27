import { testFarRows, testStreams } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

// XC-01, XC-03, XC-05
testStreams(functions, { sumsByAlignment: true });

testFarRows(functions.slice(0, 1), [
  ["RN-01: just below", "float16", 131_072, 16_384],
  ["RN-01: short rows", "float16", 4_194_305, 512],
  ["RN-01: long rows", "float16", 175_000, 12_288],
  ["RN-02: rows of one warp", "bfloat16", 2 ** 23 + 16, 256],
  ["LN-08: misaligned rows beyond 2^32", "bfloat16", 2 ** 23 + 64, 513],
  ["LN-08, RN-03: the far-row case of 8.6 GB", "bfloat16", 1_048_641, 4096],
  ["LN-18: rows beyond 2^31 elements of float32", "float32", 2 ** 20 + 1, 2048],
  ["rows of a cluster", "bfloat16", 40_000, 65_536],
]);

testFarRows(functions.slice(1), [["RN-03: fused add", "bfloat16", 1_048_641, 4096]]);
