// Tensors of a GPU that is not the current one.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { CudaStream, type Device, randn, zeros } from "@warpwright/runtime";
import { stridedRows, transposedLast } from "@warpwright/testing";
import { describeCuda } from "@warpwright/testing/vitest";
import { expect, test } from "vitest";
import { addRmsnorm, rmsnorm } from "../src/index.js";
import { bitsOf, dtypes, randomWeight } from "./support.js";

const gpus: readonly Device[] = ["cuda:1", "cuda:0"];

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

describeCuda(
  "rmsnorm on two GPUs",
  () => {
    test.each(dtypes)("RN-22: tensors of cuda:1 and of cuda:0 in turns: %s", async (dtype) => {
      for (const hiddenSize of [64, 4096, 4097, 70_000]) {
        const results: string[] = [];
        for (const device of [...gpus, ...gpus]) {
          const place = { dtype, device };
          const weight = randomWeight(hiddenSize, place);
          const x = randn([5, hiddenSize], { seed: 1, ...place });
          const residual = randn(x.shape, { seed: 2, ...place });
          const rstd = zeros([5], { device });
          // Rows without a copy, and by way of one.
          for (const laidOut of [x, stridedRows(x, 3), transposedLast(x)]) {
            const sum = addRmsnorm(laidOut, residual, weight, { rstd });
            const norm = rmsnorm(laidOut, weight);
            expect([sum.out.device, sum.residual.device, norm.device]).toEqual(
              new Array(3).fill(device),
            );
            const bits = await Promise.all([sum.out, sum.residual, rstd, norm].map(bitsOf));
            results.push(bits.join());
          }
        }
        expect(new Set(results).size).toBe(1);
      }
    });

    test("RN-22: a program on cuda:1 takes no memory on cuda:0", async (context) => {
      const uuids = query("gpu=gpu_uuid").map(([uuid]) => uuid!);
      const before = uses();
      const program = fileURLToPath(new URL("fixtures/second-gpu.mjs", import.meta.url));
      const child = spawn(process.execPath, [program], {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, CUDA_DEVICE_ORDER: "PCI_BUS_ID" }, // as nvidia-smi counts
      });
      try {
        const ended = once(child, "exit").then(([code]) => {
          throw new Error(`the program ended with ${code}`);
        });
        const [line] = await Promise.race([once(child.stdout, "data"), ended]);
        expect(String(line)).toBe("cuda:1 1\n");
        const after = uses();
        context.skip(after.length === 0, "nvidia-smi shows no processes here");
        // In a container it shows other numbers than the container's own: there, the process that
        // has come to cuda:1 since.
        const known = new Set(before.map(({ pid }) => pid));
        const { pid } =
          after.find((use) => use.pid === child.pid) ??
          after.find((use) => use.uuid === uuids[1] && !known.has(use.pid))!;
        const where = after.filter((use) => use.pid === pid).map(({ uuid }) => uuid);
        expect(where).toEqual([uuids[1]]);
      } finally {
        child.kill();
      }
    });

    test("RN-22: a tensor or a stream of the other GPU is refused", () => {
      const x = randn([2, 8], { seed: 1, device: "cuda:1" });
      const weight = randn([8], { seed: 1, device: "cuda:0" });
      expect(() => rmsnorm(x, weight)).toThrow("rmsnorm: expected weight on cuda:1, got cuda:0");
      expect(() => rmsnorm(x, null, { stream: CudaStream.default("cuda:0") })).toThrow(
        "rmsnorm: expected a stream of cuda:1, got one of cuda:0",
      );
    });
  },
  { devices: 2 },
);
