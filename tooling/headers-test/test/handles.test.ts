// Handles of a runtime that the addon was not built for: refused before anything in them is used.
import { empty } from "@warpwright/runtime";
import { dtypeCode, type Handle, handleOf } from "@warpwright/runtime/kernel";
import { describe, expect, test } from "vitest";
import { expectFailure } from "../../vitest/failures.js";
import { native } from "../src/native.js";

// What tensor_handle.h says.
const [magic, major, minor] = [0x57415250, 1, 0];

/** The first conversion, float16 to float, of one pair. */
function convert(src: Handle, dst: Handle): void {
  const codes = [dtypeCode("float16"), dtypeCode("float32")] as const;
  native.convert(src, dst, null, Float64Array.of(1, 0, 0), 0, ...codes);
}

describe("handles", () => {
  const src = empty([2], { dtype: "float16" }).fill(1.5);
  const dst = empty([2]);

  test.each([
    ["another magic", 0x57415251, major, minor],
    ["no magic", 0, major, minor],
    ["a newer major", magic, major + 1, minor],
    ["a newer major with a newer minor", magic, major + 1, minor + 7],
    ["the newest major", magic, 0xffff, 0xffff],
    ["an older major", magic, major - 1, minor],
    ["an older major with a newer minor", magic, major - 1, minor + 7],
  ])("%s is refused", async (_, ...version) => {
    const forged = native.forgeHandle(...version);
    const error =
      `ERR_LOAD convert: this addon takes handles of version ${major}.${minor}, ` +
      `the runtime makes ${version[1]}.${version[2]}; update the older package`;
    await expectFailure(error, () => convert(forged, handleOf(dst)));
    await expectFailure(error, () => convert(handleOf(src), forged));
    convert(handleOf(src), handleOf(dst));
    expect([...dst.dataSync()]).toEqual([1.5, 1.5]);
  });

  test.each([minor, minor + 1, 0xffff])("minor %i passes, and its bytes count", async (newer) => {
    const forged = native.forgeHandle(magic, major, newer);
    const error = "ERR_SHAPE convert: src reaches outside its memory";
    await expectFailure(error, () => convert(forged, handleOf(dst)));
  });
});
