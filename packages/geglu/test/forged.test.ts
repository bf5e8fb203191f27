import { ones, type Tensor, zeros } from "@warpwright/runtime";
import { type ForgedCalls, rowGeometry, testForgedCalls } from "@warpwright/testing/vitest";
import { type Native, native } from "../src/native.js";
import { geluReference } from "./reference.js";

const call = {
  op: "geglu",
  native: (...args: Parameters<Native["gegluFwd"]>) => native().gegluFwd(...args),
  first: geluReference(1),
};

function good(gate: Tensor, up: Tensor | null): ReturnType<ForgedCalls["good"]> {
  const { device } = gate;
  const out = zeros([4, 16], { device });
  return {
    gate: { tensor: gate },
    up: { tensor: up },
    out: { tensor: out },
    stream: { stream: device },
    geometry: { geometry: rowGeometry([out, gate.narrow(-1, 0, 16), up], []) },
    dtype: { dtype: "float32" },
    approximate: { integer: 0, below: 3 },
  };
}

testForgedCalls({
  ...call,
  good: (device) => good(ones([4, 16], { device }), ones([4, 16], { device })),
});

// In turns in the gate's tensor.
testForgedCalls({ ...call, good: (device) => good(ones([4, 32], { device }), null) });
