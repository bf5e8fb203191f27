// npm run bench -- rmsnorm-rht-amax [--device cpu|cuda:N] [--json FILE]
import { pickRowsPerCta, rmsnormRhtAmax } from "@warpwright/rmsnorm-rht-amax";
import { empty, type Tensor } from "@warpwright/runtime";
import { benchmarkRows } from "@warpwright/testing";
import { rmsnormRhtAmaxReference } from "../test/reference.js";

// One for each set of buffers, made at its first call, which is not timed.
const amaxes = new WeakMap<Tensor, Tensor>();

function amaxFor({ shape, device }: Tensor): Tensor {
  return empty([shape[0]! / pickRowsPerCta(shape[0]!)], { device });
}

await benchmarkRows("rmsnorm-rht-amax", [
  {
    ...{ name: "rmsnormRhtAmax", inputs: [1], parameters: 1 },
    multipleOf: 16,
    run({ inputs: [x], parameters: [weight], outputs: [out] }) {
      const amax = amaxes.get(out!) ?? amaxFor(x!);
      amaxes.set(out!, amax);
      rmsnormRhtAmax(x!, weight!, { out: out!, amax });
    },
    expected: ([x], [weight]) => [rmsnormRhtAmaxReference(x!, weight!).out],
  },
]);
