import { type Device, type Tensor, zeros } from "@warpwright/runtime";
import { testDevices } from "@warpwright/testing";
import { type Refusal, testOverlaps, testRefusals } from "@warpwright/testing/vitest";
import { describe } from "vitest";
import { attentionCallees, callees } from "./callees.js";

testOverlaps(callees);

/** Masks and sinks whose memory an output takes. */
function optionalRefusals(device: Device): Refusal[] {
  const shapes = { out: [2, 2, 2, 8], lse: [2, 2, 2], mask: [2, 2], sinks: [2] };
  const within = (buffer: Tensor, shape: number[]) =>
    buffer
      .narrow(
        0,
        0,
        shape.reduce((a, b) => a * b, 1),
      )
      .view(shape);
  return attentionCallees.flatMap((callee) =>
    (["out", "lse"] as const).flatMap((name) =>
      (["mask", "sinks"] as const).map((input) => ({
        callee,
        fault: `${name} is in the ${input}`,
        spoil: () => {
          const buffer = zeros([64], { device });
          return { [input]: within(buffer, shapes[input]), [name]: within(buffer, shapes[name]) };
        },
        error:
          `ERR_OVERLAP ${callee.op}: expected ${name} to share no memory with ${input}, ` +
          "got views that overlap",
      })),
    ),
  );
}

describe.each(testDevices())("masks and sinks that overlap outputs on %s", (device) => {
  testRefusals(device, optionalRefusals(device));
});
