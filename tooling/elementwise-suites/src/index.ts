// The suites of element-wise packages, for out = op(x) and out = op(gate, up) alike.
export { type FarShape, testFarRows, testStreams, testTwoGpus } from "./cuda.js";
export { type NativeCall, testForged } from "./forged.js";
export {
  bitsOf,
  dtypes,
  elementwiseForms,
  expectForm,
  type Form,
  gatedForms,
  type Operation,
  type Place,
  randomOperands,
} from "./forms.js";
export { testLayouts } from "./layouts.js";
export { testRefusals } from "./refusals.js";
export { testSanitized } from "./sanitized.js";
export { testValues } from "./values.js";
