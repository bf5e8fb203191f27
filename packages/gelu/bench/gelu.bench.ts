// npm run bench -- gelu [--device cpu|cuda:N] [--json FILE]
import { parseArgs } from "node:util";
import { type Approximate, gelu } from "@warpwright/gelu";
import { type Device, defaultDevice, empty, type Tensor } from "@warpwright/runtime";
import {
  type BenchCase,
  benchmark,
  checkGolden,
  type FloatDType,
  goldenCases,
  repeatedRows,
} from "@warpwright/testing";

interface Buffers {
  x: Tensor;
  out: Tensor;
}

type Shape = readonly [number, number];

function makeCase(shape: Shape, dtype: FloatDType, approximate: Approximate): BenchCase<Buffers> {
  return {
    name: `gelu ${approximate}`,
    shape,
    dtype,
    // x read and out written.
    bytes: 2 * shape[0] * shape[1] * (dtype === "float32" ? 4 : 2),
    setup: (seed, device) => ({
      x: repeatedRows(shape, { seed, dtype, device }),
      out: empty(shape, { dtype, device }),
    }),
    run: ({ x, out }) => void gelu(x, { approximate, out }),
    verify: ({ x }) => verifyGolden(dtype, approximate, x.device as Device),
    dispose: ({ x, out }) => {
      for (const tensor of [x, out]) tensor.dispose();
    },
  };
}

/** PyTorch's cases of the same dtype and form. */
function verifyGolden(dtype: FloatDType, approximate: Approximate, device: Device): void {
  const prefix = `${dtype}-${approximate}-`;
  for (const golden of goldenCases("gelu", { device })) {
    if (!golden.name.startsWith(prefix)) continue;
    checkGolden(gelu(golden.inputs["x"]!, { approximate }), golden.expected["out"]!);
    golden.dispose();
  }
}

const { values } = parseArgs({
  options: { device: { type: "string" }, json: { type: "string" } },
});
const device = (values.device ?? defaultDevice()) as Device;
const shapes: readonly Shape[] =
  device === "cpu"
    ? [[4096, 4096]]
    : [
        [16_384, 16_384],
        [8192, 14_336],
        [128, 14_336],
      ];
const kinds: readonly Approximate[] = ["none", "tanh", "quick"];
const dtypes: readonly FloatDType[] = ["bfloat16", "float16", "float32"];
const cases = shapes.flatMap((shape) =>
  dtypes.flatMap((dtype) => kinds.map((kind) => makeCase(shape, dtype, kind))),
);
await benchmark("gelu", cases, { device, ...(values.json ? { json: values.json } : {}) });
