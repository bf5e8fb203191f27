// Values whose own code runs, or says what is not so, while they are looked at.
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { CudaStream, cat, fromBytes, ones, tensor, tidy, zeros } from "../src/index.js";
import { checkTensor, handleOf, packRows, streamFor } from "../src/kernel/index.js";

/** Its properties claim a million elements elsewhere. */
function lying<T extends new (...args: never[]) => object>(kind: T): T {
  const prototype = {
    length: 1e6,
    byteLength: 4e6,
    byteOffset: 4096,
    buffer: new ArrayBuffer(8),
    *[Symbol.iterator]() {
      yield 1;
    },
    find: () => undefined,
  };
  const child = class extends (kind as new (...args: never[]) => object) {};
  for (const [key, value] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    Object.defineProperty(child.prototype, key, value);
  }
  Object.defineProperty(child.prototype, Symbol.iterator, { value: prototype[Symbol.iterator] });
  return child as T;
}

describe("typed arrays that lie", () => {
  test("are read as they are", async () => {
    expect(await tensor(new (lying(Float32Array))([1, 2])).tolist()).toEqual([1, 2]);
    expect(await tensor(new (lying(Int16Array))([1, 2])).tolist()).toEqual([1, 2]);
    expect(await tensor(new (lying(Uint32Array))([1, 2])).tolist()).toEqual([1n, 2n]);
    const bytes = new (lying(Uint8Array))([1, 2]);
    expect(await fromBytes(bytes, { shape: [2], dtype: "uint8" }).tolist()).toEqual([1, 2]);
    await expectFailure("ERR_VALUE tensor: expected data to hold 64-bit signed integers, *", () =>
      tensor(new (lying(BigUint64Array))([2n ** 63n])),
    );
  });

  test("are written as they are", async () => {
    const into = new (lying(Float32Array))(2);
    await ones([2]).read(into);
    expect(Array.prototype.slice.call(new Float32Array(into), 0)).toEqual([1, 1]);
    await expectFailure("ERR_SHAPE read: expected into of 3 elements, got 2", () =>
      ones([3]).read(into),
    );
  });
});

describe("a getter among the options may change the data", () => {
  const detaching = (array: { buffer: ArrayBufferLike }): { readonly dtype: "float32" } => ({
    get dtype() {
      structuredClone(null, { transfer: [array.buffer as ArrayBuffer] });
      return "float32" as const;
    },
  });
  const array = (): Float32Array => new Float32Array(1000).fill(7);

  test("that is detached", async () => {
    const data = array();
    const message = "expected data to have its memory, got a detached Float32Array";
    await expectFailure(`ERR_VALUE tensor: ${message}`, () => tensor(data, detaching(data)));
  });

  test("that is detached by another's shape", async () => {
    const bytes = new Uint8Array(array().buffer);
    const options = Object.defineProperties(
      { shape: [1000] },
      Object.getOwnPropertyDescriptors(detaching(bytes)),
    );
    const message = "expected bytes to have their memory, got a detached Uint8Array";
    await expectFailure(`ERR_VALUE fromBytes: ${message}`, () => fromBytes(bytes, wrong(options)));
  });

  test("that shrinks", async () => {
    type Resizable = ArrayBuffer & { resize(length: number): void };
    const kind = ArrayBuffer as never as new (length: number, options: object) => Resizable;
    const buffer = new kind(4000, { maxByteLength: 4000 });
    const data = new Float32Array(buffer);
    const options = {
      get shape() {
        buffer.resize(400);
        return [1000];
      },
    };
    await expectFailure("ERR_SHAPE tensor: expected a shape of 100 elements, got [1000]", () =>
      tensor(data, options),
    );
  });
});

function revoked(target: object): never {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy as never;
}

const x = ones([2, 3]);
const long = "x".repeat(3e6);
const short = "x".repeat(77);

const throwing = {
  // biome-ignore lint/suspicious/noThenProperty: what makes a promise, as far as anybody can tell
  get then(): never {
    throw new Error("mine");
  },
  get constructor(): never {
    throw new Error("mine");
  },
};

const failures: Failure[] = [
  ["ERR_KIND zeros: expected shape to be an array *, got a proxy", () => zeros(revoked([]))],
  ["ERR_KIND zeros: expected options to be an object, got a proxy", () => zeros([1], revoked({}))],
  ["ERR_KIND tensor: expected data to be an array *, got a proxy", () => tensor(revoked([]))],
  ["ERR_KIND tensor: expected data[0] to be a number, got a proxy", () => tensor([revoked([])])],
  ["ERR_KIND view: expected an array of integers, got a proxy", () => x.view(revoked([]))],
  ["ERR_KIND split: expected sizes to be a number *, got a proxy", () => x.split(revoked([]))],
  ["ERR_KIND cat: expected tensors to be an array, got a proxy", () => cat(revoked([]))],
  ["ERR_KIND read: expected into to be a TypedArray, got a proxy", () => x.read(revoked(x))],
  ["ERR_KIND handleOf: expected a Tensor, got a proxy", () => handleOf(revoked({}))],
  [
    "ERR_KIND op: expected x to be a Tensor, got a proxy",
    () => checkTensor("op", "x", revoked({})),
  ],
  [
    "ERR_KIND op: expected stream to be a CudaStream, got a proxy",
    () => streamFor("op", "cpu", revoked({})),
  ],
  ["ERR_KIND op: expected x to be a Tensor, got an object", () => checkTensor("op", "x", throwing)],
  ["ERR_KIND zeros: expected shape to be *, got an object", () => zeros(wrong(throwing))],
  [
    `ERR_KIND op: expected x to be a Tensor, got a ${short}...`,
    () => checkTensor("op", "x", new { [long]: class {} }[long]!()),
  ],
  [
    `ERR_VALUE zeros: unknown option "${short.slice(1)}..., the nearest known is *`,
    () => zeros([1], wrong({ [long]: 1 })),
  ],
  [`ERR_DTYPE zeros: *, got "${short.slice(1)}...`, () => zeros([1], { dtype: wrong(long) })],
  [
    "ERR_SHAPE permute: expected at most 8 dimensions, got 100000",
    () => x.permute(new Array(1e5).fill(0)),
  ],
  [
    "ERR_SHAPE split: expected sizes that sum to 2, got [1, *, 1, and 99984 more]",
    () => x.split(new Array(1e5).fill(1)),
  ],
  [
    `ERR_VALUE CudaStream.fromHandle: *, got 1${"0".repeat(76)}...`,
    () => CudaStream.fromHandle(10n ** 1000n),
  ],
  ["ERR_VALUE tensor: *, got 10000*...", () => tensor([10n ** 1000n])],
  [
    "ERR_KIND tensor: expected data[0] to be a number, got undefined",
    () => tensor(new Array(2 ** 32 - 1)),
  ],
  [
    "ERR_KIND tensor: expected data[0][0] to be a number, got undefined",
    () => tensor(new Array(3e5).fill(new Array(3e5))),
  ],
  [
    "ERR_VALUE tensor: expected a tensor that fits in one array, got 90000000000 elements",
    () => tensor(new Array(3e5).fill(new Array(3e5).fill(1))),
  ],
  [
    "ERR_SHAPE zeros: expected at most 8 dimensions, got 4294967295",
    () => zeros(new Array(2 ** 32 - 1)),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
});

describe("a proxy of a tensor", () => {
  test("is none, and is asked for nothing but whether it is a promise", async () => {
    const asked = new Set<PropertyKey>();
    const handler: ProxyHandler<typeof x> = {
      get(target, key, receiver) {
        asked.add(key);
        packRows([ones([5, 7])], []); // in the array that the outer call fills
        return Reflect.get(target, key, receiver);
      },
    };
    const proxy = new Proxy(x, handler);
    await expectFailure("ERR_KIND op: expected x to be a Tensor, got a proxy", () =>
      checkTensor("op", "x", proxy),
    );
    await expectFailure("ERR_KIND copyFrom: expected source to be a Tensor, got a proxy", () =>
      zeros([2, 3]).copyFrom(proxy),
    );
    await expectFailure("ERR_KIND handleOf: expected a Tensor, got a proxy", () => handleOf(proxy));
    expect(asked).toEqual(new Set(["then"]));
  });

  test("is none, like what inherits from one", async () => {
    const message = "op: expected x to be a Tensor, got one without memory";
    await expectFailure(`ERR_KIND ${message}`, () => checkTensor("op", "x", Object.create(x)));
  });

  test("does not keep the tensor from tidy", () => {
    let inner = x;
    tidy(() => {
      inner = ones([2, 3]);
      return new Proxy(inner, {});
    });
    expect(inner.disposed).toBe(true);
  });
});
