import { gatedForms } from "@warpwright/testing/vitest";
import { type GegluPairOptions, geglu, gegluPair } from "../src/index.js";
import { geluReference } from "./reference.js";

/** geglu's and gegluPair's calls, compared with float64. */
export const { expectPacked, expectPair, expectEveryForm, testSanitized } = gatedForms({
  op: "geglu",
  packed: geglu,
  pair: gegluPair,
  reference: (gate, up, { approximate }: GegluPairOptions) => geluReference(gate, approximate) * up,
});
