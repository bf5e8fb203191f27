import { gatedForms, type Operation } from "../../../tooling/elementwise-suites/src/index.js";
import { geglu, gegluPair } from "../src/index.js";
import { type Approximate, geluReference } from "./reference.js";

/** Each approximation is an instance of its own. */
export const operations: readonly Operation[] = (["none", "tanh", "quick"] as const).map(
  (approximate: Approximate) => ({
    name: `geglu ${approximate}`,
    forms: gatedForms(
      "geglu",
      (x, options) => geglu(x, { approximate, ...options }),
      (gate, up, options) => gegluPair(gate, up, { approximate, ...options }),
    ),
    reference: (gate, up) => geluReference(gate!, approximate) * up!,
  }),
);
