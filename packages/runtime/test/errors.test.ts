import { describe, expect, test } from "vitest";
import { CudaError } from "../src/index.js";
import {
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
} from "../src/kernel/index.js";

describe("errors", () => {
  test.each([
    [kindError, TypeError, "ERR_KIND"],
    [dtypeError, TypeError, "ERR_DTYPE"],
    [shapeError, RangeError, "ERR_SHAPE"],
    [valueError, RangeError, "ERR_VALUE"],
    [overlapError, RangeError, "ERR_OVERLAP"],
    [deviceError, Error, "ERR_DEVICE"],
    [disposedError, Error, "ERR_DISPOSED"],
    [unsupportedError, Error, "ERR_UNSUPPORTED"],
    [captureError, Error, "ERR_CAPTURE"],
    [fileError, Error, "ERR_FILE"],
    [loadError, Error, "ERR_LOAD"],
  ])("%o makes its class and code", (make, kind, code) => {
    const error = make("op: said");
    expect(error.constructor).toBe(kind);
    expect([error.code, error.message, "cause" in error]).toEqual([code, "op: said", false]);
  });

  test("a cause is kept", () => {
    const cause = new Error("deeper");
    expect([fileError("a", cause).cause, loadError("b", cause).cause]).toEqual([cause, cause]);
  });
});

describe("CudaError", () => {
  test("has its name and code", () => {
    const error = new CudaError("cudaErrorUnknown", "op: unknown");
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.code, error.message]).toEqual([
      "CudaError",
      "cudaErrorUnknown",
      "op: unknown",
    ]);
  });

  test("recognises what addons throw, and nothing else", () => {
    const thrown = Object.assign(new Error("x"), { name: "CudaError", code: "cudaErrorUnknown" });
    expect(thrown instanceof CudaError).toBe(true);
    for (const other of [new Error("x"), { name: "CudaError" }, null, "CudaError"]) {
      expect((other as unknown) instanceof CudaError).toBe(false);
    }
  });
});
