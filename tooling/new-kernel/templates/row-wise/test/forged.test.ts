import { ones, zeros } from "@warpwright/runtime";
import { rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { type Native, native } from "../src/native.js";

testForgedCalls({
  op: "newKernel",
  native: (...args: Parameters<Native["newKernelFwd"]>) => native().newKernelFwd(...args),
  first: 1 / 4,
  good(device) {
    const x = ones([4, 16], { device });
    const out = zeros([4, 16], { device });
    const inverse = zeros([4], { device });
    return {
      x: { tensor: x },
      out: { tensor: out },
      inverse: { tensor: inverse, optional: true },
      stream: { stream: device },
      geometry: { geometry: rowGeometry([x, out], [inverse]) },
      dtype: { dtype: "float32" },
      eps: { number: 0 },
    };
  },
});
