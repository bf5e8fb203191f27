import { expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { type DType, ones, tensor, zeros } from "../src/index.js";
import {
  checkBoolean,
  checkDevice,
  checkDtype,
  checkFinite,
  checkFloat,
  checkOneOf,
  checkOptions,
  checkShape,
  checkTensor,
  checkWritable,
  deviceOrdinal,
  dtypeCode,
  handleOf,
  streamFor,
} from "../src/kernel/index.js";

const x = ones([2, 3]);
const gone = ones([1]);
gone.dispose();

test("what is right passes", () => {
  checkTensor("op", "x", x);
  checkDtype("op", "x", x, "float32");
  checkDtype("op", "x", x, ["int32", "float32"]);
  checkFloat("op", "x", x);
  checkShape("op", "x", x, [2, 3]);
  checkShape("op", "x", tensor(1), []);
  checkDevice("op", "x", x, "cpu");
  checkFinite("op", "eps", 0, { min: 0 });
  checkFinite("op", "scale", 1e-300, { above: 0 });
  checkFinite("op", "n", -3, { integer: true });
  checkFinite("op", "n", -1e300);
  checkOneOf("op", "casting", "llama", ["float32", "llama"]);
  checkBoolean("op", "causal", false);
  checkOptions("op", {}, []);
  checkOptions("op", { eps: 1 }, ["eps"]);
  checkWritable("op", "out", x.transpose());
  checkWritable("op", "out", ones([3]).expand(1, 3));
  checkWritable("op", "out", ones([3]).expand(0, 3));
  checkWritable("op", "out", zeros([0]).expand(5, 0));
});

const failures: Failure[] = [
  ...(
    [
      ["x", "a string"],
      [1, "a number"],
      [null, "null"],
      [undefined, "undefined"],
      [[1], "an array"],
      [{}, "an object"],
      [Object.create(null), "an object"],
      [() => 1, "a function"],
      [Symbol("x"), "a symbol"],
      [new Float32Array(1), "a Float32Array"],
      [new Map(), "a Map"],
      [Promise.resolve(x), "a promise; await it first"],
    ] as const
  ).map(
    ([value, found]): Failure => [
      `ERR_KIND rmsnorm: expected x to be a Tensor, got ${found}`,
      () => checkTensor("rmsnorm", "x", value),
    ],
  ),
  ["ERR_DISPOSED rmsnorm: x has been disposed", () => checkTensor("rmsnorm", "x", gone)],
  ["ERR_DISPOSED handleOf: the tensor has been disposed", () => handleOf(gone)],
  ["ERR_KIND handleOf: expected a Tensor, got null", () => handleOf(wrong(null))],
  ["ERR_KIND handleOf: expected a Tensor, got an object", () => handleOf(wrong({}))],
  [
    "ERR_DTYPE rope: expected cos of dtype float16, got float32",
    () => checkDtype("rope", "cos", x, "float16"),
  ],
  [
    "ERR_DTYPE rope: expected positions of dtype int32 or int64, got float32",
    () => checkDtype("rope", "positions", x, ["int32", "int64"]),
  ],
  [
    "ERR_DTYPE rmsnorm: expected x of dtype float32, float16 or bfloat16, got int32",
    () => checkFloat("rmsnorm", "x", x.to("int32")),
  ],
  [
    "ERR_SHAPE rmsnorm: expected weight of shape [4096], got [2048]",
    () => checkShape("rmsnorm", "weight", ones([2048]), [4096]),
  ],
  [
    "ERR_SHAPE rmsnorm: expected weight of shape [2, 3, 1], got [2, 3]",
    () => checkShape("rmsnorm", "weight", x, [2, 3, 1]),
  ],
  [
    "ERR_SHAPE rmsnorm: expected weight of shape [], got [2, 3]",
    () => checkShape("rmsnorm", "weight", x, []),
  ],
  [
    "ERR_DEVICE rmsnorm: expected weight on cuda:0, got cpu",
    () => checkDevice("rmsnorm", "weight", x, "cuda:0"),
  ],
  [
    "ERR_KIND rmsnorm: expected eps to be a number, got a string",
    () => checkFinite("rmsnorm", "eps", "1"),
  ],
  [
    "ERR_KIND rmsnorm: expected eps to be a number, got a bigint",
    () => checkFinite("rmsnorm", "eps", 1n),
  ],
  [
    "ERR_VALUE rmsnorm: expected eps to be a finite number, got NaN",
    () => checkFinite("rmsnorm", "eps", Number.NaN),
  ],
  [
    "ERR_VALUE rmsnorm: expected eps to be a finite number of at least 0, got -Infinity",
    () => checkFinite("rmsnorm", "eps", -Infinity, { min: 0 }),
  ],
  [
    "ERR_VALUE rmsnorm: expected eps to be a finite number of at least 0, got -1e-9",
    () => checkFinite("rmsnorm", "eps", -1e-9, { min: 0 }),
  ],
  [
    "ERR_VALUE attention: expected scale to be a finite number above 0, got 0",
    () => checkFinite("attention", "scale", 0, { above: 0 }),
  ],
  [
    "ERR_VALUE op: expected n to be an integer of at least 1, got 1.5",
    () => checkFinite("op", "n", 1.5, { min: 1, integer: true }),
  ],
  [
    "ERR_VALUE op: expected n to be an integer, got 9007199254740992",
    () => checkFinite("op", "n", 2 ** 53, { integer: true }),
  ],
  [
    "ERR_KIND rmsnorm: expected casting to be a string, got a number",
    () => checkOneOf("rmsnorm", "casting", 1, ["a"]),
  ],
  [
    'ERR_VALUE rmsnorm: expected casting to be "float32" or "llama", got "lama"',
    () => checkOneOf("rmsnorm", "casting", "lama", ["float32", "llama"]),
  ],
  [
    `ERR_VALUE op: expected a to be "b", got "${"x".repeat(76)}...`,
    () => checkOneOf("op", "a", "x".repeat(1000), ["b"]),
  ],
  [
    "ERR_KIND attention: expected causal to be a boolean, got a number",
    () => checkBoolean("attention", "causal", 1),
  ],
  [
    "ERR_OVERLAP rmsnorm: expected out to have no stride of 0, got strides [0, 1]",
    () => checkWritable("rmsnorm", "out", ones([3]).expand(2, 3)),
  ],
  [
    "ERR_KIND rmsnorm: expected stream to be a CudaStream, got an object",
    () => streamFor("rmsnorm", "cpu", wrong({})),
  ],
  [
    "ERR_KIND rmsnorm: expected stream to be a CudaStream, got null",
    () => streamFor("rmsnorm", "cpu", wrong(null)),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});

test("streamFor on the CPU is null", () => {
  expect(streamFor("rmsnorm", "cpu")).toBeNull();
});

test("codes and ordinals are those of the headers", () => {
  const dtypes: DType[] = ["float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool"];
  expect(dtypes.map(dtypeCode)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect((["cpu", "cuda:0", "cuda:7"] as const).map(deviceOrdinal)).toEqual([-1, 0, 7]);
});
