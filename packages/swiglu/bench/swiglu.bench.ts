// npm run bench -- swiglu [--device cpu|cuda:N] [--json FILE]
import { swiglu, swigluPair } from "@warpwright/swiglu";
import { benchmarkElementwise, type RowBench } from "@warpwright/testing";
import { swigluReference } from "../test/reference.js";

const gptOss = { interleaved: true, limit: 7, alpha: 1.702, upOffset: 1 } as const;

const packed: RowBench = {
  ...{ name: "swiglu", inputs: [2] },
  run({ inputs: [x], outputs: [out] }) {
    swiglu(x!, { out: out! });
  },
  expected([x]) {
    const size = x!.length / 2;
    return [x!.subarray(size).map((up, i) => swigluReference(x![i]!, up))];
  },
};

const clamped: RowBench = {
  ...{ name: "swiglu of gpt-oss", inputs: [2] },
  run({ inputs: [x], outputs: [out] }) {
    swiglu(x!, { out: out!, ...gptOss });
  },
  expected: ([x]) => [
    new Float64Array(x!.length / 2).map((_, i) =>
      swigluReference(x![2 * i]!, x![2 * i + 1]!, gptOss),
    ),
  ],
};

const pair: RowBench = {
  ...{ name: "swigluPair", inputs: [1, 1] },
  run({ inputs: [gate, up], outputs: [out] }) {
    swigluPair(gate!, up!, { out: out! });
  },
  expected: ([gate, up]) => [up!.map((value, i) => swigluReference(gate![i]!, value))],
};

await benchmarkElementwise("swiglu", [packed, clamped, pair]);
