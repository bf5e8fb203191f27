// Tensors of a GPU that is not the current one.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { CudaStream, type Device } from "@warpwright/runtime";
import { expect, type TestContext, test } from "vitest";

import { bitsOf, floatDTypes } from "../float64.js";
import { stridedRows, transposedLast } from "../layouts.js";
import {
  type Callee,
  callWith,
  goodArguments,
  mapValues,
  poisonedOutputs,
  randomInputs,
} from "./callee.js";
import { describeCuda } from "./describe-cuda.js";

const gpus: readonly Device[] = ["cuda:1", "cuda:0"];
const sizes = [64, 4096, 4097, 70_000];

export interface TwoGpuOptions {
  /** The package's folder, and an expression of `x`, on which it calls a function of its own. */
  root: URL;
  imports: string;
  expression: string;
}

/**
 * Tests, where there are two GPUs, that results are the same on both, that a tensor or a stream of
 * the other is refused, and that a program on the second takes no memory on the first.
 *
 * @example
 * import { rmsnorm, type RmsnormOptions } from "@warpwright/rmsnorm";
 * import type { Tensor } from "@warpwright/runtime";
 * import { calleeOf, rowParameter, rows, testTwoGpus } from "@warpwright/testing/vitest";
 *
 * const callee = calleeOf({
 *   op: "rmsnorm",
 *   inputs: { x: rows(), weight: rowParameter() },
 *   outputs: { out: rows() },
 *   call: (options: RmsnormOptions, x: Tensor, weight: Tensor) => rmsnorm(x, weight, options),
 * });
 * testTwoGpus([callee], {
 *   root: new URL(".", import.meta.url),
 *   imports: 'import { rmsnorm } from "@warpwright/rmsnorm";',
 *   expression: "rmsnorm(x, null, { out: x })",
 * });
 */
export function testTwoGpus(callees: readonly Callee[], program: TwoGpuOptions): void {
  describeCuda(
    "two GPUs",
    () => {
      const each = test.each(callees.map((callee) => [callee.name, callee] as const));

      test.each(
        callees.flatMap((callee) =>
          floatDTypes.map((dtype) => [callee.name, dtype, callee] as const),
        ),
      )("%s: tensors of cuda:1 and of cuda:0 in turns: %s", async (_, dtype, callee) => {
        for (const size of sizes) {
          const results: string[] = [];
          for (const device of [...gpus, ...gpus]) {
            const place = { dtype, device };
            const inputs = randomInputs(callee, [5], size, place);
            // Rows without a copy, and by way of one.
            for (const make of [stridedRows, transposedLast]) {
              const laidOut = mapValues(inputs, (tensor) =>
                tensor.shape.length > 1 ? make(tensor) : tensor,
              );
              const outputs = poisonedOutputs(callee, [5], size, place);
              const args = { ...callee.more(device), ...laidOut };
              callWith(callee, { ...args, ...outputs });
              const fresh = callWith(callee, args);
              expect(fresh.device).toBe(device);
              const bits = [...Object.values(outputs), fresh].map(bitsOf);
              results.push((await Promise.all(bits)).join());
            }
          }
          expect(new Set(results).size).toBe(1);
        }
      });

      each("%s: a tensor or a stream of the other GPU is refused", (_, callee) => {
        const good = goodArguments(callee, "cuda:1");
        for (const name of Object.keys({ ...callee.inputs, ...callee.outputs }).slice(1)) {
          const other = { [name]: goodArguments(callee, "cuda:0")[name] };
          expect(() => callWith(callee, { ...good, ...other })).toThrow(
            `${callee.op}: expected ${name} on cuda:1, got cuda:0`,
          );
        }
        expect(() => callWith(callee, { ...good, stream: CudaStream.default("cuda:0") })).toThrow(
          `${callee.op}: expected a stream of cuda:1, got one of cuda:0`,
        );
      });

      test("a program on cuda:1 takes no memory on cuda:0", (context) =>
        expectOneGpuUsed(program, context));
    },
    { devices: 2 },
  );
}

/** A process that has a context on a GPU. */
interface Use {
  pid: number;
  uuid: string;
}

function query(what: string): string[][] {
  const args = [`--query-${what}`, "--format=csv,noheader"];
  const text = execFileSync("nvidia-smi", args, { encoding: "utf8" });
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => line.split(",").map((cell) => cell.trim()));
}

function uses(): Use[] {
  return query("compute-apps=pid,gpu_uuid").map(([pid, uuid]) => ({
    pid: Number(pid),
    uuid: uuid!,
  }));
}

// Computes on cuda:1 alone with 1 GiB there, says so, and waits until its input ends.
function programOf({ imports, expression }: TwoGpuOptions): string {
  return `
    import { once } from "node:events";
    import { ones } from "@warpwright/runtime";
    ${imports}
    const x = ones([2 ** 17, 2048], { device: "cuda:1" });
    const y = ${expression};
    console.log(y.device, typeof (await y.narrow(0, 0, 1).data())[0]);
    process.stdin.resume();
    await once(process.stdin, "end");`;
}

async function expectOneGpuUsed(program: TwoGpuOptions, context: TestContext): Promise<void> {
  const uuids = query("gpu=gpu_uuid").map(([uuid]) => uuid!);
  const before = uses();
  const child = spawn(process.execPath, ["--input-type=module", "--eval", programOf(program)], {
    cwd: fileURLToPath(program.root),
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, CUDA_DEVICE_ORDER: "PCI_BUS_ID" }, // as nvidia-smi counts
  });
  try {
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`the program ended with ${code}`);
    });
    const [line] = await Promise.race([once(child.stdout, "data"), ended]);
    expect(String(line)).toBe("cuda:1 number\n");
    const after = uses();
    context.skip(after.length === 0, "nvidia-smi shows no processes here");
    // In a container it shows other numbers than the container's own: there, the process that has
    // come to cuda:1 since.
    const known = new Set(before.map(({ pid }) => pid));
    const { pid } =
      after.find((use) => use.pid === child.pid) ??
      after.find((use) => use.uuid === uuids[1] && !known.has(use.pid))!;
    const where = after.filter((use) => use.pid === pid).map(({ uuid }) => uuid);
    expect(where).toEqual([uuids[1]]);
  } finally {
    child.kill();
  }
}
