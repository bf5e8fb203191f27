import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { full, ones, randn, tensor } from "../src/index.js";
import { checkOptions } from "../src/kernel/index.js";

const x = ones([2, 3]);
const known = ["eps", "weightOffset", "casting", "out", "stream"];

describe("options", () => {
  class Fields {
    dtype = "float16" as const;
  }
  class Getters {
    get dtype(): "float16" {
      return "float16";
    }
  }
  test.each<[string, { dtype: "float16" }]>([
    ["a plain object", { dtype: "float16" }],
    ["an object without prototype", Object.assign(Object.create(null), { dtype: "float16" })],
    ["an object of a class", new Fields()],
    ["an object of a class with getters", new Getters()],
    ["an object that inherits them", Object.create({ dtype: "float16" })],
    ["a proxy of an object", new Proxy({ dtype: "float16" as const }, {})],
  ])("may be %s", (_, options) => {
    for (const made of [ones([1], options), tensor([1], options), randn([1], options)]) {
      expect(made.dtype).toBe("float16");
    }
    expect(x.to(options).dtype).toBe("float16");
  });

  test("are not asked for what every object inherits", () => {
    const everything = Object.prototype as { more?: number };
    everything.more = 1;
    try {
      expect(ones([1], { dtype: "int32" }).dtype).toBe("int32");
    } finally {
      delete everything.more;
    }
  });

  test("are read once", () => {
    const reads: string[] = [];
    const counting = <T>(name: string, value: T): T => {
      reads.push(name);
      return value;
    };
    const options = {
      get dtype() {
        return counting("dtype", "int32" as const);
      },
      get device() {
        return counting("device", "cpu" as const);
      },
    };
    full([1], 1, options);
    tensor([1], options);
    randn([1], wrong({ ...Object.getOwnPropertyDescriptors({}) }));
    x.to(options);
    expect(reads).toEqual(["dtype", "device", "dtype", "device", "dtype", "device"]);
  });
});

// biome-ignore lint/suspicious/noThenProperty: what makes a promise
const thenable = Object.create({ then: () => {} }) as object;

const others: [value: unknown, found: string][] = [
  [Promise.resolve({}), "a promise; await it first"],
  [thenable, "a promise; await it first"],
  [new Map([["dtype", "int32"]]), "a Map"],
  [new Set(), "a Set"],
  [new WeakMap(), "a WeakMap"],
  [new Date(), "a Date"],
  [/x/, "a RegExp"],
  [new Number(1), "a Number"],
  [new String("float16"), "a String"],
  [new Error("x"), "an Error"],
  [() => 1, "a function"],
  [new Float32Array(1), "a Float32Array"],
  [new ArrayBuffer(1), "an ArrayBuffer"],
  [Buffer.alloc(1), "a Buffer"],
];

const failures: Failure[] = [
  ...others.flatMap(([value, found]): Failure[] => [
    [
      `ERR_KIND ones: expected options to be an object, got ${found}`,
      () => ones([1], wrong(value)),
    ],
    [
      `ERR_KIND tensor: expected options to be an object, got ${found}`,
      () => tensor([1], wrong(value)),
    ],
  ]),
  [
    "ERR_KIND rmsnorm: expected options to be an object, got null",
    () => checkOptions("rmsnorm", null, known),
  ],
  [
    "ERR_KIND rmsnorm: expected options to be an object, got a number",
    () => checkOptions("rmsnorm", 1e-6, known),
  ],
  [
    "ERR_KIND rmsnorm: expected options to be an object, got an array",
    () => checkOptions("rmsnorm", [], known),
  ],
  [
    "ERR_KIND rmsnorm: expected options to be an object, got a Tensor",
    () => checkOptions("rmsnorm", x, known),
  ],
  [
    'ERR_VALUE rmsnorm: unknown option "epsilon", the nearest known is "eps"',
    () => checkOptions("rmsnorm", { epsilon: 1 }, known),
  ],
  [
    'ERR_VALUE rmsnorm: unknown option "weigthOffset", the nearest known is "weightOffset"',
    () => checkOptions("rmsnorm", { weigthOffset: 1 }, known),
  ],
  [
    'ERR_VALUE op: unknown option "c", the nearest known is "a" or "b"',
    () => checkOptions("op", { c: 1 }, ["a", "b"]),
  ],
  ['ERR_VALUE op: unknown option "c", there are none', () => checkOptions("op", { c: 1 }, [])],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});
