export {
  type ArgumentSettings,
  type RefusedShape,
  rowParameter,
  rowStatistic,
  rows,
  type TensorArgument,
  type TensorKind,
} from "./suites/arguments.js";
export {
  type Arguments,
  type Callee,
  type CalleeSettings,
  calleeOf,
  type Place,
  randomParameter,
  type ScalarOption,
  withOptions,
} from "./suites/callee.js";
export { type DescribeCudaOptions, describeCuda } from "./suites/describe-cuda.js";
export { type FarRows, testFarRows } from "./suites/far-rows.js";
export {
  type ForgedCalls,
  type Geometry,
  type NativeArgument,
  rowGeometry,
  testForgedCalls,
} from "./suites/forged.js";
export {
  type GatedForms,
  type GatedFunctions,
  type GatePlace,
  gatedForms,
  gatePlaces,
} from "./suites/gated.js";
export {
  type GatedCalleeSettings,
  type GatedCallees,
  gatedCallees,
} from "./suites/gated-callees.js";
export { type LayoutOptions, testLayouts } from "./suites/layouts.js";
export { testOptionErrors } from "./suites/option-errors.js";
export { testOverlaps } from "./suites/overlaps.js";
export { kindRefusals, type Refusal, testRefusals } from "./suites/refusals.js";
export { rowLengths, rowMappings, vectorSize } from "./suites/row-lengths.js";
export { type StreamOptions, testStreams } from "./suites/streams.js";
export { testTensorErrors } from "./suites/tensor-errors.js";
export { type TwoGpuOptions, testTwoGpus } from "./suites/two-gpus.js";
