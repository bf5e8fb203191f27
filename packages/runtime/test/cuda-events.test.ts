// Events, current streams, and the order of work between streams.
import { describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import {
  CudaEvent,
  CudaStream,
  explain,
  full,
  isAvailable,
  ones,
  withStream,
} from "../src/index.js";
import { streamFor } from "../src/kernel/index.js";

const device = "cuda:0";
const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describe("CudaEvent", () => {
    test("happens after the work before it", async () => {
      using stream = new CudaStream({ device });
      const x = withStream(stream, () => full([2 ** 20], 3, { device }));
      const event = stream.record();
      expect([event.device, event.disposed]).toEqual([device, false]);
      await event.synchronize();
      expect(event.query()).toBe(true);
      expect(await x.narrow(0, 0, 1).item()).toBe(3);
    });

    test("tells the time between two", async () => {
      const stream = CudaStream.default(device);
      const start = stream.record();
      for (let i = 0; i < 3; i++) full([2 ** 20], i, { device }).dispose();
      const end = stream.record();
      const milliseconds = await end.elapsedMs(start);
      expect(milliseconds).toBeGreaterThan(0);
      expect(milliseconds).toBeLessThan(10_000);
      expect(await start.elapsedMs(end)).toBeCloseTo(-milliseconds, 6);
      expect(await start.elapsedMs(start)).toBe(0);
    });

    test("orders the work of two streams", async () => {
      using producer = new CudaStream({ device });
      using consumer = new CudaStream({ device });
      const x = full([2 ** 20], 0, { device });
      // Both know of the memory, so that only the event orders what follows.
      producer.wait(CudaStream.default(device).record());
      consumer.wait(CudaStream.default(device).record());
      const copies = [];
      for (let round = 1; round <= 5; round++) {
        withStream(producer, () => x.fill(round));
        consumer.wait(producer.record());
        copies.push(withStream(consumer, () => x.clone()));
        producer.wait(consumer.record());
      }
      await consumer.synchronize();
      for (const [i, copy] of copies.entries()) {
        const data = await copy.data();
        expect(data.every((value) => value === i + 1)).toBe(true);
      }
    });

    test("goes on for those that wait when it is disposed of", async () => {
      using stream = new CudaStream({ device });
      using other = new CudaStream({ device });
      withStream(stream, () => full([2 ** 22], 1, { device }).dispose());
      const event = stream.record();
      const waiting = [event.synchronize(), stream.record().elapsedMs(event)];
      other.wait(event);
      event.dispose();
      event.dispose();
      expect(event.disposed).toBe(true);
      await Promise.all(waiting);
      await other.synchronize();
    });

    test("is made by record() alone", () => {
      const Constructor = CudaEvent as unknown as new () => CudaEvent;
      expect(() => new Constructor()).toThrow("CudaEvent: expected a call of record(), got new");
    });
  });

  describe("withStream", () => {
    test("makes the stream the current one, and the outer one again", () => {
      using first = new CudaStream({ device });
      using second = new CudaStream({ device });
      const current = () => streamFor("op", device);
      const outer = current();
      withStream(first, () => {
        expect(current()).toBe(streamFor("op", device, first));
        withStream(second, () => expect(current()).toBe(streamFor("op", device, second)));
        expect(current()).toBe(streamFor("op", device, first));
        expect(() =>
          withStream(second, () => {
            throw new Error("on purpose");
          }),
        ).toThrow("on purpose");
        expect(current()).toBe(streamFor("op", device, first));
      });
      expect(current()).toBe(outer);
    });

    test("returns what fn returns", () => {
      expect(withStream(CudaStream.default(device), () => 7)).toBe(7);
    });

    test("of a stream that fn disposes of fails at its next use", () => {
      const stream = new CudaStream({ device });
      expect(() =>
        withStream(stream, () => {
          stream.dispose();
          ones([1], { device });
        }),
      ).toThrow("ones: stream has been disposed");
      expect(ones([1], { device }).disposed).toBe(false);
    });
  });

  test("a stream for every request does not pile up at the weights", async () => {
    const weight = ones([64], { device });
    for (let i = 0; i < 2000; i++) {
      using stream = new CudaStream({ device });
      withStream(stream, () => weight.clone()).dispose();
      if (i % 100 === 0) await stream.synchronize();
    }
    weight.dispose();
  });

  test("memory of a stream that is gone may be used on another with its address", async () => {
    const x = ones([2 ** 20], { device });
    for (let i = 0; i < 20; i++) {
      const stream = new CudaStream({ device });
      const y = withStream(stream, () => x.clone().fill(i));
      stream.dispose();
      using next = new CudaStream({ device });
      const z = withStream(next, () => y.clone());
      y.dispose();
      await next.synchronize();
      const data = await z.data();
      expect(data.every((value) => value === i)).toBe(true);
    }
  });

  const usable = isAvailable("cuda");
  const stream = usable ? new CudaStream({ device }) : wrong(null);
  const gone = usable ? new CudaStream({ device }) : wrong(null);
  const event = usable ? (stream as CudaStream).record() : wrong(null);
  const goneEvent = usable ? (stream as CudaStream).record() : wrong(null);
  if (usable) {
    (gone as CudaStream).dispose();
    (goneEvent as CudaEvent).dispose();
  }
  const failures: Failure[] = [
    [
      "ERR_KIND wait: expected event to be a CudaEvent, got a string",
      () => (stream as CudaStream).wait(wrong("now")),
    ],
    ["ERR_DISPOSED wait: event has been disposed", () => (stream as CudaStream).wait(goneEvent)],
    ["ERR_DISPOSED wait: the stream has been disposed", () => (gone as CudaStream).wait(event)],
    ["ERR_DISPOSED record: the stream has been disposed", () => (gone as CudaStream).record()],
    ["ERR_DISPOSED query: the event has been disposed", () => (goneEvent as CudaEvent).query()],
    [
      "ERR_DISPOSED synchronize: the event has been disposed",
      () => (goneEvent as CudaEvent).synchronize(),
    ],
    [
      "ERR_KIND elapsedMs: expected since to be a CudaEvent, got undefined",
      () => (event as CudaEvent).elapsedMs(wrong(undefined)),
    ],
    [
      "ERR_DISPOSED elapsedMs: since has been disposed",
      () => (event as CudaEvent).elapsedMs(goneEvent),
    ],
    ["ERR_DISPOSED withStream: stream has been disposed", () => withStream(gone, () => 1)],
    [
      "ERR_KIND withStream: expected stream to be a CudaStream, got undefined",
      () => withStream(wrong(undefined), () => 1),
    ],
    [
      "ERR_KIND withStream: expected fn to be a function, got undefined",
      () => withStream(stream, wrong(undefined)),
    ],
    [
      "ERR_KIND withStream: expected fn to return its result, got a promise",
      () => withStream(stream, async () => 1),
    ],
  ];
  test.each(failures)("%s", async (...failure) => {
    await expectFailure(...failure);
  });
});
