export {
  type BenchCase,
  type BenchOptions,
  type BenchReport,
  type BenchResult,
  benchmark,
} from "./bench.js";
export { repeatedRows } from "./bench-inputs.js";
export { missingCuda, testDevices } from "./cuda.js";
export { erfc } from "./erfc.js";
export {
  bitsOf,
  type FloatDType,
  floatDTypes,
  fromBits,
  roundAll,
  roundTo,
  toBits,
  valuesOf,
} from "./float64.js";
export {
  checkGolden,
  type GoldenCase,
  type GoldenKernel,
  type GoldenOptions,
  type GoldenRule,
  type GoldenValue,
  goldenCases,
} from "./golden.js";
export {
  type GridCase,
  type GridInput,
  gridBatchSizes,
  gridHiddenSizes,
  gridSeqLens,
  seedGrid,
} from "./grid.js";
export {
  expanded,
  fusedSlice,
  type InputLayout,
  inputLayouts,
  misaligned,
  stridedRows,
  transposedLast,
} from "./layouts.js";
export { lastLevelCacheBytes, type Machine, machineLine, machineOf } from "./machine.js";
export {
  type CanaryOptions,
  type Guarded,
  type PoisonOptions,
  poisoned,
  poisonedLike,
  withCanaries,
} from "./poison.js";
export {
  benchmarkElementwise,
  benchmarkRows,
  type RowBench,
  type RowBuffers,
  type RowShape,
  rowCase,
} from "./row-bench.js";
export { type Timer, wallClockTimer } from "./timer.js";
export { type ExpectCloseOptions, expectClose, type Tolerance, tolerances } from "./tolerance.js";
export { largestOf, ulpDistance, ulpOf } from "./ulp.js";
