// npm run bench -- new-kernel [--device cpu|cuda:N] [--json FILE]
import { newKernel } from "@warpwright/new-kernel";
import { benchmarkElementwise } from "@warpwright/testing";
import { newKernelReference } from "../test/reference.js";

await benchmarkElementwise("new-kernel", [
  {
    ...{ name: "newKernel", inputs: [1] },
    run({ inputs: [x], outputs: [out] }) {
      newKernel(x!, { out: out! });
    },
    expected: ([x]) => [x!.map((value) => newKernelReference(value))],
  },
]);
