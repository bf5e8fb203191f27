import { describe, expect, test } from "vitest";
import { expectFailure, wrong } from "../../../tooling/vitest/failures.js";
import { ones, type Tensor, tidy } from "../src/index.js";

describe("tidy", () => {
  test("disposes what is made and not returned", () => {
    let inner: Tensor | undefined;
    const result = tidy(() => {
      inner = ones([2]);
      return inner.clone();
    });
    expect([inner?.disposed, result.disposed]).toEqual([true, false]);
  });

  test("keeps what is nested in what is returned", () => {
    class Pair {
      constructor(
        readonly a: Tensor,
        readonly b: Tensor,
      ) {}
    }
    const result = tidy(() => ({
      list: [ones([1]), [ones([1])]],
      map: new Map([["a", ones([1])]]),
      set: new Set([ones([1])]),
      pair: new Pair(ones([1]), ones([1])),
      nothing: null,
      bytes: new Uint8Array(4),
    }));
    const kept = [result.list[0], result.map.get("a"), [...result.set][0], result.pair.b];
    expect(kept.map((x) => (x as Tensor).disposed)).toEqual([false, false, false, false]);
  });

  test("takes cycles", () => {
    const result = tidy(() => {
      const loop: { self?: unknown; x: Tensor } = { x: ones([1]) };
      loop.self = loop;
      return loop;
    });
    expect(result.x.disposed).toBe(false);
  });

  test("leaves tensors from outside alone", () => {
    const outside = ones([1]);
    tidy(() => {
      outside.fill(2);
    });
    expect(outside.disposed).toBe(false);
  });

  test("gives survivors to the tidy around it", () => {
    const seen: Tensor[] = [];
    tidy(() => {
      const kept = tidy(() => {
        seen.push(ones([1]));
        return ones([1]);
      });
      seen.push(kept);
      expect(seen.map((x) => x.disposed)).toEqual([true, false]);
    });
    expect(seen.map((x) => x.disposed)).toEqual([true, true]);
  });

  test("disposes everything when fn throws", () => {
    let inner: Tensor | undefined;
    expect(() =>
      tidy(() => {
        inner = ones([1]);
        throw new Error("mine");
      }),
    ).toThrow("mine");
    expect(inner?.disposed).toBe(true);
    expect(ones([1]).disposed).toBe(false);
  });

  test("may dispose inside", () => {
    expect(
      tidy(() => {
        const x = ones([1]);
        x.dispose();
        return 3;
      }),
    ).toBe(3);
  });

  test("refuses a promise, and disposes what its function made", async () => {
    let inner: Tensor | undefined;
    await expectFailure("ERR_KIND tidy: expected fn to return its result, got a promise", () =>
      tidy(async () => {
        inner = ones([1]);
        await null;
        return inner.data();
      }),
    );
    expect(inner?.disposed).toBe(true);
  });

  test("refuses what is no function", async () => {
    await expectFailure("ERR_KIND tidy: expected fn to be a function, got a Tensor", () =>
      tidy(wrong(ones([1]))),
    );
  });

  test("disposes everything when a getter in the result throws", () => {
    let inner: Tensor | undefined;
    const throws = {
      get x(): never {
        throw new Error("mine");
      },
    };
    const fn = (): unknown => {
      inner = ones([1]);
      return [inner, throws];
    };
    expect(() => tidy(fn)).toThrow("mine");
    expect(inner?.disposed).toBe(true);
    expect(ones([1]).disposed).toBe(false);
  });

  test("disposes what a getter in the result makes", () => {
    const made: Tensor[] = [];
    const makes = {
      get x(): number {
        return made.push(ones([1]));
      },
    };
    tidy(() => makes);
    expect(made.map((x) => x.disposed)).toEqual([true]);
  });

  test("finds a tensor at any depth", () => {
    type Chain = { next: Chain | Tensor };
    let inner: Tensor | undefined;
    tidy(() => {
      inner = ones([1]);
      let chain: Chain = { next: inner };
      for (let i = 0; i < 200_000; i++) chain = { next: chain };
      return chain;
    });
    expect(inner?.disposed).toBe(false);
  });
});
