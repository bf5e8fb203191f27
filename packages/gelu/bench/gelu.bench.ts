// npm run bench -- gelu [--device cpu|cuda:N] [--json FILE]
import { gelu } from "@warpwright/gelu";
import { benchmarkElementwise, type RowBench } from "@warpwright/testing";
import { approximations, geluReference } from "../test/reference.js";

const benches = approximations.map(
  (approximate): RowBench => ({
    ...{ name: `gelu ${approximate}`, inputs: [1] },
    run({ inputs: [x], outputs: [out] }) {
      gelu(x!, { approximate, out: out! });
    },
    expected: ([x]) => [x!.map((value) => geluReference(value, approximate))],
  }),
);

await benchmarkElementwise("gelu", benches);
