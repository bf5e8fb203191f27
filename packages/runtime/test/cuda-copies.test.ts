// Copies between host and device of every size class: what the driver stages, one pinned buffer,
// several, more than a ring of them, and ragged ends.
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { empty, explain, fromBytes, isAvailable, type Tensor, tensor } from "../src/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

const staged = 256 * 2 ** 10;
const part = 512 * 2 ** 10;
const buffer = 4 * 2 ** 20;
const around = (limit: number): number[] => [limit - 1, limit, limit + 1];
const sizes = [
  ...[0, 1, 4097],
  ...around(staged),
  ...around(part),
  ...around(2 * part),
  ...around(buffer),
  ...around(4 * buffer),
  9 * buffer + 12_345, // more than a ring
];

/** Bytes whose place shows: no period that a chunk could be shifted by. */
function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, state = seed; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

const source = pattern(sizes.at(-1)! + 1);

function expectBytes(found: ArrayBufferView, wanted: Uint8Array): void {
  const bytes = new Uint8Array(found.buffer, found.byteOffset, found.byteLength);
  expect(bytes.length).toBe(wanted.length);
  expect(Buffer.compare(bytes, wanted)).toBe(0);
}

describe.skipIf(!isAvailable("cuda"))(`copies between host and device${missing}`, () => {
  test.each(sizes)("%i bytes, from and to addresses of every kind", async (length) => {
    for (const start of [0, 1]) {
      const bytes = source.subarray(start, start + length);
      const there = fromBytes(bytes, { shape: [length], dtype: "uint8", device });
      expectBytes(there.dataSync(), bytes);
      expectBytes(await there.data(), bytes);
      const back = there.to("cpu");
      expectBytes(back.dataSync(), bytes);
      const again = empty([length + 3], { dtype: "uint8", device }).fill(7);
      again.narrow(0, start, length).copyFrom(back);
      const whole = await again.bytes();
      expectBytes(whole.subarray(start, start + length), bytes);
      expect([...whole.subarray(start + length)]).toEqual(new Array(3 - start).fill(7));
      for (const each of [there, back, again]) each.dispose();
    }
  });

  test("a source may change as soon as the call returns", async () => {
    for (const length of [1000, part + 1, 6 * buffer + 5]) {
      const bytes = pattern(length);
      const there = fromBytes(bytes, { shape: [length], dtype: "uint8", device });
      bytes.fill(0);
      expectBytes(await there.data(), pattern(length));
      there.dispose();
    }
  });

  test("follow one another in the stream's order", async () => {
    const x = empty([3 * buffer], { dtype: "uint8", device });
    const reads: Promise<Uint8Array>[] = [];
    for (let seed = 1; seed <= 6; seed++) {
      x.copyFrom(tensor(pattern(x.size, seed)));
      reads.push(x.data());
    }
    for (const [i, read] of reads.entries()) expectBytes(await read, pattern(x.size, i + 1));
    x.dispose();
  });

  test("many large reads at once are whole", async () => {
    const length = 3 * buffer + 7;
    const tensors = Array.from({ length: 24 }, (_, i) => tensor(pattern(length, i), { device }));
    const data = await Promise.all(tensors.map((each) => each.data()));
    for (const [i, each] of data.entries()) expectBytes(each, pattern(length, i));
    for (const each of tensors) each.dispose();
  });

  describe("an array that goes away while a read is awaited", () => {
    const length = 20 * buffer; // more than two turns take
    let there: Tensor;
    beforeAll(() => {
      there = tensor(new Uint8Array(length).fill(5), { device });
    });
    afterAll(() => there.dispose());

    test("is ERR_VALUE when detached, at once or between two turns", async () => {
      for (const turns of [0, 1]) {
        const into = new Uint8Array(length);
        const outcome = there.read(into).then(
          () => "filled",
          ({ code }) => code,
        );
        for (let i = 0; i < turns; i++) await setImmediate();
        structuredClone(into, { transfer: [into.buffer] });
        // A fast machine may be done by then.
        expect(turns === 0 ? ["ERR_VALUE"] : ["ERR_VALUE", "filled"]).toContain(await outcome);
        expect([...there.narrow(0, 0, 3).dataSync()]).toEqual([5, 5, 5]);
      }
    });

    test("is ERR_VALUE when shrunk", async () => {
      type Resizable = ArrayBuffer & { resize(length: number): void };
      const kind = ArrayBuffer as never as new (length: number, options: object) => Resizable;
      const resizable = new kind(length, { maxByteLength: length });
      const outcome = there.read(new Uint8Array(resizable)).then(
        () => "filled",
        ({ code }) => code,
      );
      resizable.resize(length / 2);
      expect(await outcome).toBe("ERR_VALUE");
    });
  });
});
