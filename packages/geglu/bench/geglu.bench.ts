// npm run bench -- geglu [--device cpu|cuda:N] [--json FILE]
import { geglu, gegluPair } from "@warpwright/geglu";
import { benchmarkElementwise, type RowBench } from "@warpwright/testing";
import { type Approximate, geluReference } from "../test/reference.js";

const packed = (approximate: Approximate): RowBench => ({
  ...{ name: `geglu ${approximate}`, inputs: [2] },
  run({ inputs: [x], outputs: [out] }) {
    geglu(x!, { approximate, out: out! });
  },
  expected([x]) {
    const size = x!.length / 2;
    const up = x!.subarray(size);
    return [up.map((value, i) => geluReference(x![i]!, approximate) * value)];
  },
});

const inTurns: RowBench = {
  ...{ name: "geglu in turns", inputs: [2] },
  run({ inputs: [x], outputs: [out] }) {
    geglu(x!, { interleaved: true, out: out! });
  },
  expected: ([x]) => [
    new Float64Array(x!.length / 2).map((_, i) => geluReference(x![2 * i]!) * x![2 * i + 1]!),
  ],
};

const pair: RowBench = {
  ...{ name: "gegluPair", inputs: [1, 1] },
  run({ inputs: [gate, up], outputs: [out] }) {
    gegluPair(gate!, up!, { out: out! });
  },
  expected: ([gate, up]) => [up!.map((value, i) => geluReference(gate![i]!) * value)],
};

await benchmarkElementwise("geglu", [packed("none"), packed("tanh"), inTurns, pair]);
