import { tensor } from "@warpwright/runtime";
import { expectClose, testDevices } from "@warpwright/testing";
import { describe, expect, test } from "vitest";
import { swiglu, swigluPair } from "../src/index.js";
import { swigluReference } from "./reference.js";

describe("the reference", () => {
  test("half the gate where the sigmoid is 1/2, and all of it far from there", () => {
    expect(swigluReference(0, 5)).toBe(0);
    expect(swigluReference(1e-12, 4)).toBeCloseTo(2e-12, 20);
    expect(swigluReference(800, 2)).toBe(1600);
    expect(swigluReference(-800, 2)).toBeCloseTo(0, 300);
  });

  test("the logistic function at ln(3) is 3/4, at -ln(3) 1/4", () => {
    const gate = Math.log(3);
    expect(swigluReference(gate, 8)).toBeCloseTo(6 * gate, 14);
    expect(swigluReference(-gate, 8)).toBeCloseTo(-2 * gate, 14);
    expect(swigluReference(gate / 2, 8, { alpha: 2 })).toBeCloseTo(3 * gate, 14);
  });

  test("the gate is clamped from above alone, up from both sides, before its offset", () => {
    const limited = { limit: 7, upOffset: 1 };
    expect(swigluReference(9, 9, limited)).toBe(swigluReference(7, 7, { upOffset: 1 }));
    expect(swigluReference(-9, -9, limited)).toBe(swigluReference(-9, -7, { upOffset: 1 }));
    expect(swigluReference(1, -1, limited)).toBeCloseTo(0, 300);
  });
});

describe.each(testDevices())("swiglu on %s", (device) => {
  test("the three places of the gate, and the pair, are one function", async () => {
    const [gate, up] = [tensor([1, -2], { device }), tensor([3, 4], { device })];
    const wanted = [swigluReference(1, 3), swigluReference(-2, 4)];
    expectClose(swigluPair(gate, up), wanted);
    expectClose(swiglu(tensor([1, -2, 3, 4], { device })), wanted);
    expectClose(swiglu(tensor([3, 4, 1, -2], { device }), { gate: "last" }), wanted);
    const turns = tensor([1, 3, -2, 4], { device });
    expectClose(swiglu(turns, { interleaved: true }), wanted);
    const back = tensor([3, 1, 4, -2], { device });
    expectClose(swiglu(back, { interleaved: true, gate: "last" }), wanted);
  });
});
