import { ones, zeros } from "@warpwright/runtime";
import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { type Native, native } from "../src/native.js";
import { geluReference } from "./reference.js";

testForgedCalls({
  op: "gelu",
  native: (...args: Parameters<Native["geluFwd"]>) => native().geluFwd(...args),
  first: geluReference(1),
  good(device) {
    const x = ones([4, 16], { device });
    const out = zeros([4, 16], { device });
    return {
      x: { tensor: x },
      out: { tensor: out },
      stream: { stream: device },
      geometry: { geometry: rowGeometry([out, x], []) },
      dtype: { dtype: "float32" },
      approximate: { integer: 0, below: 3 },
    };
  },
});
