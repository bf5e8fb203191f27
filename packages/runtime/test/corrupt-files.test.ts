import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { expectFailure } from "../../../tooling/vitest/failures.js";
import { loadSafetensors } from "../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
const path = join(folder, "bad.safetensors");
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with this header and `data` bytes behind it. */
function file(header: string | Uint8Array | object, data = 8): Uint8Array {
  const json =
    typeof header === "string" || header instanceof Uint8Array ? header : JSON.stringify(header);
  const bytes = Buffer.from(json as string);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(bytes.length));
  return Buffer.concat([length, bytes, Buffer.alloc(data)]);
}

function withLength(length: bigint): Uint8Array {
  const bytes = Buffer.from(file({}, 0));
  bytes.writeBigUInt64LE(length);
  return bytes;
}

const f32 = (shape: unknown, begin: unknown, end: unknown): object => ({
  dtype: "F32",
  shape,
  data_offsets: [begin, end],
});

const offsets = 'tensor "a": expected data_offsets to be two integers of at least 0';
const sizes = 'tensor "a": expected shape to be an array of integers of at least 0';

const cases: [string, Uint8Array, string][] = [
  ["nothing in it", new Uint8Array(0), "expected at least 8 bytes, got 0"],
  ["half a length", new Uint8Array(7), "expected at least 8 bytes, got 7"],
  ["no header", new Uint8Array(8), "the header is not JSON"],
  [
    "a header that is cut off",
    file({ a: f32([2], 0, 8) }, 0).subarray(0, 20),
    "expected a header of 54 bytes, got 12: it is cut off",
  ],
  [
    "a length of 2^64 - 1",
    withLength(2n ** 64n - 1n),
    "expected a header of at most 100000000 bytes, got 18446744073709551615",
  ],
  [
    "a length just above the limit",
    withLength(100_000_001n),
    "expected a header of at most 100000000 bytes, got 100000001",
  ],
  [
    "a length beyond the file",
    withLength(100n),
    "expected a header of 100 bytes, got 2: it is cut off",
  ],
  [
    "a header that is not UTF-8",
    file(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])),
    "the header is not UTF-8",
  ],
  [
    "half a character",
    file(Buffer.concat([Buffer.from('{"'), Buffer.from([0xe2, 0x82])])),
    "the header is not UTF-8",
  ],
  ["a byte order mark", file("\ufeff{}"), "the header is not JSON"],
  ["a header that is not JSON", file("{a: 1}"), "the header is not JSON"],
  ["a header that ends early", file('{"a": {'), "the header is not JSON"],
  ["an array as header", file("[]"), "the header is not a JSON object"],
  ["null as header", file("null"), "the header is not a JSON object"],
  ["a space in front", file(" {}", 0), "the header is not a JSON object"],
  [
    "a tensor twice",
    file(
      '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' +
        '"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
    ),
    'the header has the key "a" twice',
  ],
  [
    "a tensor twice, once escaped",
    file(
      '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},' +
        '"\\u0061":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}',
    ),
    'the header has the key "a" twice',
  ],
  [
    "a field twice",
    file('{"a":{"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]}}'),
    'the header has the key "dtype" twice',
  ],
  [
    "a string as tensor",
    file({ a: "F32" }),
    'tensor "a": expected an object with dtype, shape and data_offsets',
  ],
  [
    "null as tensor",
    file({ a: null }),
    'tensor "a": expected an object with dtype, shape and data_offsets',
  ],
  [
    "no dtype",
    file({ a: { shape: [2], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype to be a string',
  ],
  [
    "a number as dtype",
    file({ a: { dtype: 32, shape: [2], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype to be a string',
  ],
  ["no shape", file({ a: { dtype: "F32", data_offsets: [0, 8] } }), sizes],
  ["a number as shape", file({ a: f32(2, 0, 8) }), sizes],
  ["a negative size", file({ a: f32([-2], 0, 8) }), sizes],
  ["a fraction as size", file({ a: f32([0.5, 4], 0, 8) }), sizes],
  ["a string as size", file({ a: f32(["2"], 0, 8) }), sizes],
  [
    "a size beyond 2^53",
    file('{"a":{"dtype":"F32","shape":[9007199254740993],' + '"data_offsets":[0,8]}}'),
    sizes,
  ],
  ["no offsets", file({ a: { dtype: "F32", shape: [2] } }), offsets],
  ["one offset", file({ a: { dtype: "F32", shape: [2], data_offsets: [8] } }), offsets],
  ["three offsets", file({ a: { dtype: "F32", shape: [2], data_offsets: [0, 8, 8] } }), offsets],
  ["a negative offset", file({ a: f32([2], -8, 0) }), offsets],
  ["a fraction as offset", file({ a: f32([2], 0, 8.5) }), offsets],
  ["a string as offset", file({ a: f32([2], "0", 8) }), offsets],
  [
    "offsets in the wrong order",
    file({ a: f32([2], 8, 0) }),
    'tensor "a": expected data_offsets in order, got [8, 0]',
  ],
  [
    "fewer bytes than the shape",
    file({ a: f32([2], 0, 4) }, 4),
    'tensor "a": expected 8 bytes for F32 [2], got 4',
  ],
  [
    "more bytes than the shape",
    file({ a: f32([1], 0, 8) }),
    'tensor "a": expected 4 bytes for F32 [1], got 8',
  ],
  [
    "a shape that overflows to its bytes",
    file({ a: f32([2 ** 52, 2 ** 52, 2 ** 52], 0, 8) }),
    `tensor "a": expected ${4 * 2 ** 156} bytes for F32 ` +
      "[4503599627370496, 4503599627370496, 4503599627370496], got 8",
  ],
  [
    "an overlap",
    file({ a: f32([2], 0, 8), b: f32([1], 4, 8) }),
    'tensor "b": overlaps the tensor before it: expected it at 8, got 4',
  ],
  [
    "the same bytes twice",
    file({ a: f32([2], 0, 8), b: f32([2], 0, 8) }),
    'tensor "b": overlaps the tensor before it: expected it at 8, got 0',
  ],
  [
    "a gap in front",
    file({ a: f32([1], 4, 8) }),
    'tensor "a": leaves a gap before it: expected it at 0, got 4',
  ],
  [
    "a gap in the middle",
    file({ a: f32([1], 0, 4), b: f32([1], 8, 12) }, 12),
    'tensor "b": leaves a gap before it: expected it at 4, got 8',
  ],
  ["bytes behind the last tensor", file({ a: f32([1], 0, 4) }), "expected 4 bytes of data, got 8"],
  ["bytes without a tensor", file({}), "expected 0 bytes of data, got 8"],
  [
    "data that is cut off",
    file({ a: f32([2], 0, 8) }, 7),
    'tensor "a": expected 8 bytes of data, got 7: the file is cut off',
  ],
  [
    "an offset beyond the file",
    file({ a: f32([2 ** 50], 0, 2 ** 52) }),
    'tensor "a": expected 4503599627370496 bytes of data, got 8: the file is cut off',
  ],
  [
    "a dtype that tensors lack",
    file({ a: { dtype: "F64", shape: [1], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype F32, F16, BF16, I32, I64, U8 or BOOL, got "F64"',
  ],
  [
    "a dtype of eight bits that tensors lack",
    file({ a: { dtype: "F8_E4M3", shape: [8], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype F32, F16, BF16, I32, I64, U8 or BOOL, got "F8_E4M3"',
  ],
  [
    "an unknown dtype",
    file({ a: { dtype: "toString", shape: [1], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype F32, F16, BF16, I32, I64, U8 or BOOL, got "toString"',
  ],
  [
    "a dtype in small letters",
    file({ a: { dtype: "f32", shape: [2], data_offsets: [0, 8] } }),
    'tensor "a": expected dtype F32, F16, BF16, I32, I64, U8 or BOOL, got "f32"',
  ],
  [
    "nine dimensions",
    file({ a: f32([1, 1, 1, 1, 1, 1, 1, 1, 2], 0, 8) }),
    'tensor "a": expected at most 8 dimensions, got 9',
  ],
  [
    "an empty shape whose strides overflow",
    file({ a: f32([0, 2 ** 53 - 1, 2 ** 53 - 1], 0, 0) }, 0),
    'tensor "a": expected a shape of at most 2^53 bytes, got ' +
      "[0, 9007199254740991, 9007199254740991]",
  ],
  [
    "a string as metadata",
    file({ __metadata__: "pt" }, 0),
    "expected __metadata__ to be an object",
  ],
  [
    "a number in the metadata",
    file({ __metadata__: { step: 1 } }, 0),
    'expected __metadata__ "step" to be a string',
  ],
  [
    "a deeply nested header",
    file(`{"a":${"[".repeat(1e5)}${"]".repeat(1e5)}}`),
    'tensor "a": expected an object with dtype, shape and data_offsets',
  ],
];

test.each(cases)("a file with %s is ERR_FILE", async (_, bytes, message) => {
  writeFileSync(path, bytes);
  const load = (): unknown => loadSafetensors(path);
  const sentence = `loadSafetensors: bad.safetensors: ${message}`;
  await expectFailure(`ERR_FILE ${sentence}`, load);
});

test("every truncation of a good file is ERR_FILE", async () => {
  const good = file({ a: f32([1], 0, 4), b: f32([1], 4, 8) });
  for (let length = 0; length < good.length; length++) {
    writeFileSync(path, good);
    truncateSync(path, length);
    await expect(loadSafetensors(path)).rejects.toMatchObject({ code: "ERR_FILE" });
  }
  writeFileSync(path, good);
  expect((await loadSafetensors(path)).tensors.size).toBe(2);
});

test("a dtype that tensors lack may be filtered out", async () => {
  const entries = { a: { dtype: "F64", shape: [1], data_offsets: [0, 8] }, b: f32([1], 8, 12) };
  writeFileSync(path, file(entries, 12));
  const { tensors } = await loadSafetensors(path, { filter: (_, { dtype }) => dtype !== "F64" });
  expect([...tensors.keys()]).toEqual(["b"]);
});

test("a header padded with spaces is good", async () => {
  writeFileSync(path, file(`${JSON.stringify({ a: f32([2], 0, 8) })}      `));
  expect((await loadSafetensors(path)).tensors.get("a")?.shape).toEqual([2]);
});

test("a key may come in two tensors, and brackets in names", async () => {
  const entries = { "[{": f32([1], 0, 4), '"},': f32([1], 4, 8) };
  writeFileSync(path, file(entries));
  expect([...(await loadSafetensors(path)).tensors.keys()]).toEqual(["[{", '"},']);
});
