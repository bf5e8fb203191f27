// What only a GPU can show.
import {
  CudaGraph,
  CudaStream,
  cat,
  type Device,
  empty,
  randn,
  type Tensor,
  zeros,
} from "@warpwright/runtime";
import { stridedRows, transposedLast } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { describe, expect, test } from "vitest";
import { bitsOf, dtypes, type Form, type Operation, type Place, randomOperands } from "./forms.js";

/** More than 2^31 elements, of which the first and the last rows alone hold data. */
export interface FarShape {
  name: string;
  rows: number;
  /** Of the result. */
  width: number;
  /** Names of the forms that it is tried on. */
  forms: readonly string[];
}

const device = "cuda:0";

export function testFarRows(operation: Operation, shapes: readonly FarShape[]): void {
  describeCuda(`${operation.name} beyond 2^31 elements`, () => {
    const cases = shapes.flatMap(({ name, rows, width, forms }) =>
      operation.forms
        .filter((form) => forms.includes(form.name))
        .map((form) => [name, form.name, rows, width, form] as const),
    );
    test.each(cases)("%s, %s: [%i, %i]", async (_, __, rows, width, form) => {
      const place = { dtype: "bfloat16", device } as const;
      const ends = form.pack(randomOperands(form, [2, width], place));
      const tensors = ends.map((two) => {
        const far = zeros([rows, two.shape[1]!], place);
        for (const [row, end] of [0, rows - 1].entries()) {
          far.narrow(0, end, 1).copyFrom(two.narrow(0, row, 1));
        }
        return far;
      });
      const out = empty([rows, width], place).fill(Number.NaN);
      form.call(tensors, { out });
      const wanted = await bitsOf(form.call(ends));
      const found = cat([out.narrow(0, 0, 1), out.narrow(0, rows - 1, 1)], 0);
      expect(await bitsOf(found)).toBe(wanted);
      await expectZeros(out.narrow(0, 1, rows - 2));
      for (const tensor of [...tensors, out]) tensor.dispose();
    });
  });
}

/** op(0, …) is 0 of either sign: any other element, and NaN, would show in its bits. */
async function expectZeros(out: Tensor): Promise<void> {
  const rowsAtOnce = Math.max(1, Math.floor(2 ** 27 / out.shape[1]!));
  for (let row = 0; row < out.shape[0]!; row += rowsAtOnce) {
    const some = out.narrow(0, row, Math.min(rowsAtOnce, out.shape[0]! - row));
    const bytes = await some.bytes();
    const words = new BigUint64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 3);
    expect(words.every((word) => (word & 0x7fff7fff7fff7fffn) === 0n)).toBe(true);
  }
}

export function testStreams(operation: Operation): void {
  describeCuda(`${operation.name} on streams`, () => {
    describe.each(operation.forms)("$name", (form) => {
      test.each(dtypes)("50 runs give the same bits, %s", async (dtype) => {
        const tensors = form.pack(randomOperands(form, [300, 769], { dtype, device }));
        const first = await bitsOf(form.call(tensors));
        for (let run = 0; run < 50; run++) expect(await bitsOf(form.call(tensors))).toBe(first);
      });

      test("a non-default stream, waited for by hand, and not once disposed", async () => {
        const stream = new CudaStream({ device });
        const tensors = form.pack(randomOperands(form, [512, 4096], { dtype: "bfloat16", device }));
        const wanted = await bitsOf(form.call(tensors));
        await CudaStream.default(device).synchronize();
        const direct = form.call(tensors, { stream });
        const copied = form.call(tensors.map(transposedLast), { stream });
        await stream.synchronize();
        expect(await bitsOf(direct)).toBe(wanted);
        expect(await bitsOf(copied)).toBe(wanted);
        stream.dispose();
        expect(() => form.call(tensors, { stream })).toThrow(
          `${form.op}: stream has been disposed`,
        );
      });

      test("XC-01: a replayed graph computes anew from what its inputs hold", async () => {
        const place = { dtype: "bfloat16", device } as const;
        const stream = new CudaStream({ device });
        const tensors = form.pack(randomOperands(form, [33, 640], place));
        const out = empty([33, 640], place);
        await CudaStream.default(device).synchronize();
        const graph = CudaGraph.capture(() => form.call(tensors, { out, stream }), { stream });
        for (const seed of [5, 6]) {
          for (const tensor of tensors) tensor.copyFrom(randn(tensor.shape, { seed, ...place }));
          out.fill(Number.NaN);
          await CudaStream.default(device).synchronize();
          graph.launch(stream);
          await stream.synchronize();
          expect(await bitsOf(out)).toBe(await bitsOf(form.call(tensors)));
        }
        graph.dispose();
      });
    });
  });
}

const gpus: readonly Device[] = ["cuda:1", "cuda:0"];

/** @param fault the reported fault's number */
export function testTwoGpus(operation: Operation, fault: string): void {
  describeCuda(
    `${operation.name} on two GPUs`,
    () => {
      const cases = operation.forms.flatMap((form) =>
        dtypes.map((dtype) => [form.name, dtype, form] as const),
      );
      test.each(cases)(
        `${fault}: %s of cuda:1 and of cuda:0 in turns: %s`,
        async (_, dtype, form) => {
          const results: string[] = [];
          for (const gpu of [...gpus, ...gpus]) results.push(...(await runOn(form, gpu, dtype)));
          expect(new Set(results).size).toBe(1);
        },
      );

      test.each(operation.forms)(`${fault}: $name refuses the other GPU's`, (form) => {
        const place = { dtype: "float32", device: "cuda:1" } as const;
        const tensors = form.pack(randomOperands(form, [2, 8], place));
        expect(() => form.call(tensors, { out: zeros([2, 8], { device: "cuda:0" }) })).toThrow(
          `${form.op}: expected out on cuda:1, got cuda:0`,
        );
        expect(() => form.call(tensors, { stream: CudaStream.default("cuda:0") })).toThrow(
          `${form.op}: expected a stream of cuda:1, got one of cuda:0`,
        );
      });
    },
    { devices: 2 },
  );
}

/** Bits of the same call on a GPU, with rows as they are, and by way of a copy. */
async function runOn(form: Form, gpu: Device, dtype: Place["dtype"]): Promise<string[]> {
  const tensors = form.pack(randomOperands(form, [8, 1024], { dtype, device: gpu }));
  const results = [
    form.call(tensors),
    form.call(tensors.map((tensor) => stridedRows(tensor, 3))),
    form.call(tensors.map(transposedLast)),
  ];
  for (const result of results) expect(result.device).toBe(gpu);
  return Promise.all(results.map(bitsOf));
}
