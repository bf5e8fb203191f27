import { testFarRows, testStreams } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

testStreams(functions, { sumsByAlignment: true });

testFarRows(functions.slice(0, 1), [
  ["RN-01: just below", "float16", 131_072, 16_384],
  ["RN-01: short rows", "float16", 4_194_305, 512],
  ["RN-01: long rows", "float16", 175_000, 12_288],
  ["RN-02: rows of one warp", "bfloat16", 2 ** 23 + 16, 256],
  ["RN-03: the far-row case of 8.6 GB", "bfloat16", 1_048_641, 4096],
  ["rows of a cluster", "bfloat16", 40_000, 65_536],
  ["misaligned rows", "bfloat16", 600_001, 4095],
]);

testFarRows(functions.slice(1), [["RN-03: fused add", "bfloat16", 1_048_641, 4096]]);
