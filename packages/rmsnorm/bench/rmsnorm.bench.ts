// npm run bench -- rmsnorm [--device cpu|cuda:N] [--json FILE]
import { addRmsnorm, rmsnorm } from "@warpwright/rmsnorm";
import { benchmarkRows, type RowBench } from "@warpwright/testing";
import { rmsnormReference } from "../test/reference.js";

const plain: RowBench = {
  ...{ name: "rmsnorm", inputs: [1], parameters: 1 },
  run({ inputs: [x], parameters: [weight], outputs: [out] }) {
    rmsnorm(x!, weight!, { out: out! });
  },
  expected: ([x], [weight], dtype) => [rmsnormReference(x!, weight!, x!.length, dtype).out],
};

const fused: RowBench = {
  ...{ name: "addRmsnorm", inputs: [1, 1], parameters: 1, outputs: 2 },
  run({ inputs: [x, residual], parameters: [weight], outputs: [out, residualOut] }) {
    addRmsnorm(x!, residual!, weight!, { out: out!, residualOut: residualOut! });
  },
  expected([x, residual], [weight], dtype) {
    const options = { residual: residual! };
    const { out, sum } = rmsnormReference(x!, weight!, x!.length, dtype, options);
    return [out, sum];
  },
};

await benchmarkRows("rmsnorm", [plain, fused]);
