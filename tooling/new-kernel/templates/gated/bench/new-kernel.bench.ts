// npm run bench -- new-kernel [--device cpu|cuda:N] [--json FILE]
import { newKernel } from "@warpwright/new-kernel";
import { benchmarkElementwise } from "@warpwright/testing";
import { newKernelReference } from "../test/reference.js";

await benchmarkElementwise("new-kernel", [
  {
    ...{ name: "newKernel", inputs: [2] },
    run({ inputs: [x], outputs: [out] }) {
      newKernel(x!, { out: out! });
    },
    expected([x]) {
      const size = x!.length / 2;
      return [x!.subarray(size).map((up, i) => newKernelReference(x![i]!, up))];
    },
  },
]);
