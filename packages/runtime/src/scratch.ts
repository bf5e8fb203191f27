// One array for each length that calls have, because native code reads it before the call returns,
// and the first read of a new array costs more than a launch.
const arrays = new Map<number, Float64Array>();

/** An array for the geometry of a native call, good until the next call; holds anything. */
export function scratchOf(length: number): Float64Array {
  let array = arrays.get(length);
  if (array === undefined) {
    array = new Float64Array(length);
    arrays.set(length, array);
  }
  return array;
}
