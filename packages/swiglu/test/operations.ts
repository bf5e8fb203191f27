import { gatedForms, type Operation } from "../../../tooling/elementwise-suites/src/index.js";
import { swiglu, swigluPair } from "../src/index.js";
import { type ReferenceOptions, swigluReference } from "./reference.js";

function operation(name: string, options: ReferenceOptions): Operation {
  return {
    name,
    forms: gatedForms(
      "swiglu",
      (x, others) => swiglu(x, { ...options, ...others }),
      (gate, up, others) => swigluPair(gate, up, { ...options, ...others }),
    ),
    reference: (gate, up) => swigluReference(gate!, up!, options),
  };
}

/** Without any option: an instance of its own. */
export const plain = operation("swiglu", {});
/** With all of them, and a limit that normal values often exceed. */
export const clamped = operation("clamped swiglu", { limit: 1.5, alpha: 1.702, upOffset: 1 });
