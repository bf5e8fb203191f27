// How a checkpoint's bytes get into tensors: in chunks, several at a time, off JavaScript's thread.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { allocateBlock } from "../src/blocks.js";
import {
  arange,
  type Device,
  full,
  isAvailable,
  loadSafetensors,
  memoryStats,
  saveSafetensors,
} from "../src/index.js";
import { readBlock } from "../src/safetensors/files.js";

const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
const path = join(folder, "model.safetensors");
afterAll(() => rmSync(folder, { recursive: true }));
const packageFolder = fileURLToPath(new URL("..", import.meta.url));

const chunk = 4 * 2 ** 20;

interface Stored {
  dtype: string;
  bytes: Uint8Array;
}

/** Writes a file of one-dimensional tensors, in this order. */
function write(stored: Record<string, Stored>): void {
  let end = 0;
  const entries = Object.entries(stored).map(([name, { dtype, bytes }]) => {
    const width = { BOOL: 1, U8: 1, BF16: 2, F32: 4 }[dtype]!;
    const begin = end;
    end += bytes.length;
    return [name, { dtype, shape: [bytes.length / width], data_offsets: [begin, end] }];
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const parts = Object.values(stored).map(({ bytes }) => bytes);
  writeFileSync(path, Buffer.concat([length, header, ...parts]));
}

/** Bytes whose place shows. */
function pattern(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0, state = 1; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}

const openFiles = (): number => readdirSync("/proc/self/fd").length;
const devices: readonly Device[] = isAvailable("cuda") ? ["cpu", "cuda:0"] : ["cpu"];

describe.each(devices)("loading a file to %s", (device) => {
  test("tensors of every number of chunks come back as they were, in order", async () => {
    const sizes = [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 11 * chunk + 12_345];
    const source = pattern(sizes.at(-1)!);
    const stored = sizes.map((size): [string, Stored] => [
      `of ${size} bytes`,
      { dtype: "U8", bytes: source.subarray(0, size) },
    ]);
    write(Object.fromEntries(stored));
    const { tensors, dispose } = await loadSafetensors(path, { device });
    expect([...tensors.keys()]).toEqual(stored.map(([name]) => name));
    for (const [name, { bytes }] of stored) {
      expect(Buffer.compare(await tensors.get(name)!.bytes(), bytes)).toBe(0);
    }
    dispose();
  });

  test("a thousand small tensors, converted, each get their own bytes", async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `layer ${i}`);
    const tensors = names.map((name, i): [string, Stored] => [
      name,
      { dtype: "F32", bytes: new Uint8Array(Float32Array.of(i, -i).buffer) },
    ]);
    write(Object.fromEntries(tensors));
    const loaded = await loadSafetensors(path, { device, dtype: "bfloat16" });
    expect([...loaded.tensors.keys()]).toEqual(names);
    const values = await Promise.all(names.map((name) => loaded.tensors.get(name)!.data()));
    const rounded = arange(1000).to("bfloat16").dataSync();
    expect(values.map((value) => [...value])).toEqual(
      names.map((_, i) => [rounded[i], -Number(rounded[i])]),
    );
    loaded.dispose();
  });

  test("large tensors are converted whole", async () => {
    const count = (isEmulated ? 1 : 3) * chunk + 5;
    const x = arange(count);
    await saveSafetensors(path, { x, y: full([3], 2), z: x });
    const { tensors, dispose } = await loadSafetensors(path, { device, dtype: "float16" });
    const wanted = await x.to("float16").bytes();
    for (const name of ["x", "z"]) {
      expect(Buffer.compare(await tensors.get(name)!.bytes(), wanted)).toBe(0);
    }
    expect(await tensors.get("y")!.tolist()).toEqual([2, 2, 2]);
    dispose();
  });

  test("a BOOL tensor of several chunks is 0 and 1", async () => {
    const bytes = pattern(2 * chunk + 3).map((byte, i) => (i % 3 === 0 ? 0 : byte));
    write({ x: { dtype: "BOOL", bytes } });
    const { tensors, dispose } = await loadSafetensors(path, { device });
    const wanted = bytes.map((byte) => Number(byte !== 0));
    expect(Buffer.compare(await tensors.get("x")!.bytes(), wanted)).toBe(0);
    dispose();
  });

  test("a file that is cut while it is read leaves no tensor and no open file", async () => {
    const bytes = new Uint8Array(5 * chunk);
    const before = [openFiles(), memoryStats(device).allocated] as const;
    const names = ["a", "b", "c", "d"];
    for (const [i, victim] of names.entries()) {
      write(Object.fromEntries(names.map((name) => [name, { dtype: "U8", bytes }])));
      const filter = (name: string): boolean => {
        if (name === victim) truncateSync(path, (i + 0.5) * bytes.length);
        return true;
      };
      await expect(loadSafetensors(path, { device, filter })).rejects.toMatchObject({
        code: "ERR_FILE",
        message: "loadSafetensors: model.safetensors: the file is cut off",
      });
    }
    expect(openFiles()).toBe(before[0]);
    // The device may not have come to the frees yet.
    await expect.poll(() => memoryStats(device).allocated).toBeLessThanOrEqual(before[1]);
  });

  test("a filter that throws waits for what is under way", async () => {
    const bytes = new Uint8Array(5 * chunk);
    write({ a: { dtype: "U8", bytes }, b: { dtype: "U8", bytes } });
    const before = openFiles();
    const filter = (name: string): boolean => {
      if (name === "b") throw new Error("on purpose");
      return true;
    };
    await expect(loadSafetensors(path, { device, filter })).rejects.toThrow("on purpose");
    expect(openFiles()).toBe(before);
  });

  test("what the system says of a fault is told in its words", async () => {
    const handle = await open(folder);
    const stream = null;
    const into = allocateBlock("test", [8], "uint8", "cpu", stream);
    const reading = readBlock("x", handle, into, { position: 0, bytes: 8 }, stream);
    await expect(reading).rejects.toMatchObject({
      code: "ERR_FILE",
      message: "loadSafetensors: x: cannot read it: EISDIR: illegal operation on a directory, read",
    });
    await handle.close();
  });

  describe("ends with the process", () => {
    const program = (end: string): string => `
      import { Worker } from "node:worker_threads";
      import { loadSafetensors } from "@warpwright/runtime";
      const load = () => loadSafetensors(${JSON.stringify(path)}, { device: "${device}" });
      ${end}`;
    const run = (end: string): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, ["--input-type=module", "--eval", program(end)], {
        cwd: packageFolder,
        encoding: "utf8",
        timeout: 50_000,
      });
    const bytes = new Uint8Array((isEmulated ? 1 : 3) * chunk + 1);
    const large = (): void => {
      const names = Array.from({ length: 12 }, (_, i) => `${i}`);
      write(Object.fromEntries(names.map((name) => [name, { dtype: "U8", bytes }])));
    };

    test.each([
      ["process.exit at once", "load(); process.exit(7);", 7],
      ["process.exit later", "load(); setTimeout(() => process.exit(7), 8);", 7],
      ["an uncaught exception", "load(); setImmediate(() => { throw new Error(); });", 1],
      ["the end of the program", "load(); load();", 0],
    ])("%s", (_, end, code) => {
      large();
      const { status, signal } = run(end);
      expect([status, signal]).toEqual([code, null]);
    });

    test("a worker that is terminated", () => {
      large();
      const { stdout, stderr, status } = run(`
        const code = 'import { loadSafetensors } from "@warpwright/runtime";'
          + 'import { parentPort } from "node:worker_threads";'
          + 'const load = () => loadSafetensors(${JSON.stringify(path)}, { device: "${device}" });'
          + 'await load(); parentPort.postMessage(0);'
          + 'for (;;) await Promise.all([load(), load()]);';
        for (let i = 0; i < ${isEmulated ? 4 : 8}; i++) {
          const worker = new Worker(code, { eval: true });
          await new Promise((started) => worker.once("message", started));
          await new Promise((later) => setTimeout(later, i));
          await worker.terminate();
        }
        console.log((await load()).tensors.size);`);
      expect([stdout, stderr, status]).toEqual(["12\n", "", 0]);
    });
  });
});
