// npm run bench -- new-kernel [--device cpu|cuda:N] [--json FILE]
import { newKernel } from "@warpwright/new-kernel";
import { benchmarkRows } from "@warpwright/testing";
import { newKernelReference } from "../test/reference.js";

await benchmarkRows("new-kernel", [
  {
    ...{ name: "newKernel", inputs: [1] },
    run({ inputs: [x], outputs: [out] }) {
      newKernel(x!, { out: out! });
    },
    expected: ([x]) => [newKernelReference(x!, x!.length).out],
  },
]);
