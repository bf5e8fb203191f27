import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { arange, ones, Tensor, tensor } from "../src/index.js";

type Call = (x: Tensor) => unknown;

const returning: [string, (x: Tensor) => Tensor | Tensor[]][] = [
  ["to the same device", (x) => x.to("cpu")],
  ["to the same dtype", (x) => x.to("float32")],
  ["to with no change", (x) => x.to({})],
  ["view", (x) => x.view(4)],
  ["reshape", (x) => x.reshape(4)],
  ["flatten", (x) => x.flatten()],
  ["unsqueeze", (x) => x.unsqueeze(0)],
  ["squeeze", (x) => x.squeeze()],
  ["transpose", (x) => x.transpose()],
  ["permute", (x) => x.permute(1, 0)],
  ["narrow", (x) => x.narrow(0, 0, 2)],
  ["select", (x) => x.select(0, 0)],
  ["chunk", (x) => x.chunk(1)],
  ["split", (x) => x.split(2)],
  ["expand", (x) => x.expand(2, 2)],
  ["contiguous", (x) => x.contiguous()],
];

describe("ownership", () => {
  test.each(returning)("%s gives a new object on the same memory", (_, call) => {
    const x = ones([2, 2]);
    const result = [call(x)].flat()[0]!;
    expect(result).not.toBe(x);
    expect(result.pointer).toBe(x.pointer);
  });

  test.each(returning)("what %s gives outlives the original", async (_, call) => {
    const x = ones([2, 2]);
    const result = [call(x)].flat()[0]!;
    x.dispose();
    expect((await result.data())[0]).toBe(1);
    result.dispose();
  });

  test.each(returning)("the original outlives what %s gives", async (_, call) => {
    const x = ones([2, 2]);
    for (const result of [call(x)].flat()) result.dispose();
    expect(await x.tolist()).toEqual([
      [1, 1],
      [1, 1],
    ]);
  });

  test.each<[string, (x: Tensor) => Tensor]>([
    ["clone", (x) => x.clone()],
    ["to another dtype", (x) => x.to("float16")],
    ["contiguous of a transposed one", (x) => x.transpose().contiguous()],
    ["reshape across strides", (x) => x.transpose().reshape(4)],
  ])("%s gives new memory", (_, call) => {
    const x = ones([2, 2]);
    expect(call(x).pointer).not.toBe(x.pointer);
  });

  test("dispose twice is harmless, and using() disposes", () => {
    const x = ones([2]);
    x.dispose();
    x.dispose();
    expect(x.disposed).toBe(true);
    let inner: Tensor;
    {
      using y = ones([2]);
      inner = y;
      expect(y.disposed).toBe(false);
    }
    expect(inner.disposed).toBe(true);
  });

  test("fields stay readable after dispose", () => {
    const x = ones([2, 3]);
    x.dispose();
    expect([x.shape, x.strides, x.dtype, x.device, x.size, x.byteLength]).toEqual([
      [2, 3],
      [3, 1],
      "float32",
      "cpu",
      6,
      24,
    ]);
    expect(x.isContiguous()).toBe(true);
  });

  test("10,000 tensors made and disposed leave memory as it was", async () => {
    const step = (): void => {
      const x = ones([64 * 1024]);
      const view = x.view(-1, 64);
      view.transpose().dispose();
      view.dispose();
      x.dispose();
    };
    const steps = async (count: number): Promise<number> => {
      for (let i = 0; i < count; i++) {
        step();
        if (i % 100 === 0) await setImmediate(); // when the handles themselves are collected
      }
      return process.memoryUsage.rss();
    };
    const before = await steps(5_000);
    expect((await steps(10_000)) - before).toBeLessThan(32 * 2 ** 20);
  });
});

const calls: [string, Call][] = [
  ["data", (x) => x.data()],
  ["dataSync", (x) => x.dataSync()],
  ["tolist", (x) => x.tolist()],
  ["item", (x) => x.select(0, 0).item()],
  ["bytes", (x) => x.bytes()],
  ["read", (x) => x.read(new Float32Array(4))],
  ["to", (x) => x.to("float16")],
  ["to", (x) => x.to("cpu")],
  ["view", (x) => x.view(4)],
  ["reshape", (x) => x.reshape(4)],
  ["flatten", (x) => x.flatten()],
  ["unsqueeze", (x) => x.unsqueeze(0)],
  ["squeeze", (x) => x.squeeze()],
  ["transpose", (x) => x.transpose()],
  ["permute", (x) => x.permute(1, 0)],
  ["narrow", (x) => x.narrow(0, 0, 1)],
  ["select", (x) => x.select(0, 0)],
  ["chunk", (x) => x.chunk(2)],
  ["split", (x) => x.split(1)],
  ["expand", (x) => x.expand(2, 2)],
  ["contiguous", (x) => x.contiguous()],
  ["clone", (x) => x.clone()],
  ["copyFrom", (x) => x.copyFrom(ones([1]))],
  ["fill", (x) => x.fill(1)],
  ["pointer", (x) => x.pointer],
];

test.each(calls)("%s of a disposed tensor is ERR_DISPOSED", async (name, call) => {
  const x = tensor([
    [1, 2],
    [3, 4],
  ]);
  x.dispose();
  const op = name === "item" ? "select" : name;
  const message = `${op}: the tensor has been disposed`;
  await expectFailure(`ERR_DISPOSED ${message}`, () => call(x));
});

test("item of a disposed tensor is ERR_DISPOSED", async () => {
  const x = tensor([1]);
  x.dispose();
  const message = "item: the tensor has been disposed";
  await expectFailure(`ERR_DISPOSED ${message}`, () => x.item());
});

test("a promise in flight outlives dispose", async () => {
  const x = arange(3);
  const data = x.data();
  x.dispose();
  expect(await data).toEqual(new Float32Array([0, 1, 2]));
});

const forged: Failure[] = [
  [
    "ERR_KIND Tensor: expected a call of tensor(), empty() or the like, got new",
    () => new (Tensor as never as new () => Tensor)(),
  ],
  [
    "ERR_KIND copyFrom: expected source to be a Tensor, got one without memory",
    () => ones([1]).copyFrom(wrong(Object.create(Tensor.prototype))),
  ],
  [
    "ERR_KIND copyFrom: expected source to be a Tensor, got an object",
    () => {
      const { dtype, device, shape, strides, offset, size } = ones([1]);
      ones([1]).copyFrom(wrong({ dtype, device, shape, strides, offset, size }));
    },
  ],
];

test.each(forged)("%s", async (...failure) => {
  await expectFailure(...failure);
});
