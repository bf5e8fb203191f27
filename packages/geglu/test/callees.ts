// geglu's functions, for the suites that every kernel repeats.
import { gatedCallees, withOptions } from "@warpwright/testing/vitest";
import { geglu, gegluPair } from "../src/index.js";
import { approximations, geluReference } from "./reference.js";

export const { packed, pair, placements } = gatedCallees({
  op: "geglu",
  packed: geglu,
  pair: gegluPair,
  options: { approximate: { word: "tanh", of: approximations, not: ["gelu", "erf"] } },
  first: geluReference(1),
});

export const callees = [packed, pair];

/** With each approximation, an instance of its own. */
export const instances = approximations.flatMap((approximate) =>
  placements.map((callee) => withOptions(callee, { approximate })),
);

/** Every placement and every approximation once or more. */
export const someInstances = placements.map((callee, i) =>
  withOptions(callee, { approximate: approximations[i % approximations.length] }),
);
