import { expect } from "vitest";

/**
 * A call that fails, behind its error: the code, a space, and the whole message, in which `*`
 * stands for anything.
 */
export type Failure = [error: string, call: () => unknown];

const classes: Readonly<Record<string, ErrorConstructor>> = {
  ERR_KIND: TypeError,
  ERR_DTYPE: TypeError,
  ERR_SHAPE: RangeError,
  ERR_VALUE: RangeError,
  ERR_OVERLAP: RangeError,
};

/** Checks that the call throws, or rejects with, exactly this error, of the code's class. */
export async function expectFailure(...[wanted, call]: Failure): Promise<void> {
  let error: unknown;
  try {
    await call();
  } catch (caught) {
    error = caught;
  }
  expect(error).toBeInstanceOf(Error);
  const { code, message, name } = error as Error & { code?: string };
  const text = `${code} ${message}`;
  if (!matches(text, wanted)) expect(text).toBe(wanted);
  expect((error as Error).constructor).toBe(classes[code ?? ""] ?? Error);
  if (code?.startsWith("cuda")) expect(name).toBe("CudaError");
}

function matches(text: string, pattern: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`, "s").test(text);
}

/** A value that the types do not allow, which JavaScript passes all the same. */
export function wrong(value: unknown): never {
  return value as never;
}
