import { elementwiseForms, type Operation } from "../../../tooling/elementwise-suites/src/index.js";
import { gelu } from "../src/index.js";
import { type Approximate, geluReference } from "./reference.js";

/** Each approximation is an instance of its own. */
export const operations: readonly Operation[] = (["none", "tanh", "quick"] as const).map(
  (approximate: Approximate) => ({
    name: `gelu ${approximate}`,
    forms: elementwiseForms("gelu", (x, options) => gelu(x, { approximate, ...options })),
    reference: (x) => geluReference(x!, approximate),
  }),
);
