/**
 * What a kernel's TypeScript is written with: checks that throw the library's errors, handles and
 * streams for its native addon, memory, and the addon's loader.
 *
 * @module
 */
import "../tensor.js"; // defines what newTensor makes

export { deviceOrdinal } from "../arguments.js";
export { type DType, dtypeCode, type FloatDType, isFloat, parseFloatDType } from "../dtypes.js";
export {
  captureError,
  deviceError,
  disposedError,
  dtypeError,
  fileError,
  kindError,
  loadError,
  overlapError,
  shapeError,
  unsupportedError,
  valueError,
} from "../errors.js";
export type { DeviceName } from "../internals.js";
export { loadAddon } from "../loader.js";
export type { Handle, StreamHandle } from "../native.js";
export { streamFor } from "../streams.js";
export {
  checkBoolean,
  checkDevice,
  checkDtype,
  checkFinite,
  checkFloat,
  checkOneOf,
  checkOptions,
  checkShape,
  checkWritable,
  type NumberBounds,
} from "./checks.js";
export {
  type ElementwiseCall,
  type ElementwiseOptions,
  elementwiseOptionNames,
  runElementwise,
} from "./elementwise.js";
export {
  type GatedCall,
  type GatedOptions,
  gatedOptionNames,
  gatedPairOptionNames,
  runGated,
  runGatedPair,
} from "./gated.js";
export { checkTensor, handleOf, optionalHandle } from "./handles.js";
export { fillOn, newFilled, newTensor } from "./memory.js";
export { checkOverlap, type OverlapRule } from "./overlap.js";
export { checkRowOutputs, type RowArguments, type RowTensors, runRows } from "./row-calls.js";
export {
  checkFloat32,
  checkHiddenSize,
  checkLike,
  checkRowParameter,
  checkRows,
} from "./row-checks.js";
export * from "./rows.js";
