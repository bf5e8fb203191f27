// npm run bench -- layernorm [--device cpu|cuda:N] [--json FILE]
import { addLayernorm, layernorm } from "@warpwright/layernorm";
import { benchmarkRows, type RowBench } from "@warpwright/testing";
import { layernormReference } from "../test/reference.js";

const plain: RowBench = {
  ...{ name: "layernorm", inputs: [1], parameters: 2 },
  run({ inputs: [x], parameters: [weight, bias], outputs: [out] }) {
    layernorm(x!, weight!, bias!, { out: out! });
  },
  expected: ([x], [weight, bias], dtype) => [
    layernormReference(x!, x!.length, dtype, { weight: weight!, bias: bias! }).out,
  ],
};

const fused: RowBench = {
  ...{ name: "addLayernorm", inputs: [1, 1], parameters: 2, outputs: 2 },
  run({ inputs: [x, residual], parameters: [weight, bias], outputs: [out, residualOut] }) {
    addLayernorm(x!, residual!, weight!, bias!, { out: out!, residualOut: residualOut! });
  },
  expected([x, residual], [weight, bias], dtype) {
    const options = { weight: weight!, bias: bias!, residual: residual! };
    const { out, sum } = layernormReference(x!, x!.length, dtype, options);
    return [out, sum];
  },
};

await benchmarkRows("layernorm", [plain, fused]);
