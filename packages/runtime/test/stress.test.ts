// A short run of the stress program, which CONTRIBUTING.md tells of.
import { devices, explain, isAvailable } from "@warpwright/runtime";
import { describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { stress } from "../stress/stress.js";

const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;
const seeds = [1, 2, 3];
const actions = 4000;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  test.each(seeds)("streams, events, graphs and disposals at random, seed %i", async (seed) => {
    const world = await stress({
      seed,
      devices: devices()
        .map(({ device }) => device)
        .filter((device) => device !== "cpu"),
      limits: isEmulated
        ? { computed: 4096, copied: 2 ** 21 }
        : { computed: 2 ** 18, copied: 2 ** 23 },
      until: (done) => done >= actions,
    });
    expect(world.actions).toBeGreaterThanOrEqual(actions);
  });
});
