/** A dtype that the function does not take. */
export function dtypeError(message: string): TypeError {
  return withCode(new TypeError(`testing: ${message}`), "ERR_DTYPE");
}

/** An argument outside its range. */
export function valueError(message: string): RangeError {
  return withCode(new RangeError(`testing: ${message}`), "ERR_VALUE");
}

/** A tensor of a shape that the function does not take. */
export function shapeError(message: string): RangeError {
  return withCode(new RangeError(`testing: ${message}`), "ERR_SHAPE");
}

/** A file that is missing or malformed. */
export function fileError(message: string, cause?: unknown): Error {
  const options = cause === undefined ? undefined : { cause };
  return withCode(new Error(`testing: ${message}`, options), "ERR_FILE");
}

/** Throws ERR_VALUE unless `value` is an integer of at least `min`. */
export function checkInteger(name: string, value: number, min = 0): void {
  if (Number.isSafeInteger(value) && value >= min) return;
  throw valueError(`expected ${name} to be an integer of at least ${min}, got ${value}`);
}

function withCode<E extends Error>(error: E, code: string): E {
  return Object.assign(error, { code });
}
