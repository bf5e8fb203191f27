// loadSafetensors of a file in the page cache, beside plain reading of it: sixteen reads at a time
// into buffers whose pages are there.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Device, loadSafetensors } from "../dist/index.js";
import { type CopyCase, type CopyReport, measure, report, timed } from "./measure.js";

export interface SafetensorsBenchOptions {
  device: Device;
  /** Size of the file. */
  gigabytes: number;
  /** Where it is written; it is removed afterwards. */
  path?: string | undefined;
}

const chunkBytes = 4 * 2 ** 20;
const readers = 16;
/** Of one buffer: Node.js has a limit of 4 GiB. */
const bufferBytes = 2 ** 30;

// A matrix of 8192 x 4096 and a norm's weight, in bfloat16, over and over.
const matrix = { dtype: "BF16", shape: [8192, 4096] };
const norm = { dtype: "BF16", shape: [4096] };

export async function benchSafetensors(options: SafetensorsBenchOptions): Promise<CopyReport> {
  const { device, path = join(tmpdir(), `warpwright-${process.pid}.safetensors`) } = options;
  const bytes = writeCheckpoint(path, options.gigabytes * 1e9);
  const handle = await open(path);
  try {
    const count = Math.ceil(bytes / bufferBytes);
    const buffers = Array.from({ length: count }, () => Buffer.alloc(bufferBytes, 1));
    const common = { bytes, yardstick: () => timed(() => readPlain(handle, buffers, bytes)) };
    const load = (name: string, to: Device, dtype?: "float16"): CopyCase => {
      return {
        ...common,
        name,
        run: async () => (await loadSafetensors(path, { device: to, dtype })).dispose(),
      };
    };
    const cases = [load("to the CPU", "cpu")];
    if (device !== "cpu") {
      cases.push(load(`to ${device}`, device), load(`to ${device}, as float16`, device, "float16"));
    }
    const results = [];
    for (const each of cases) results.push(await measure(each));
    return report("safetensors", device, "plain reading", results);
  } finally {
    await handle.close();
    rmSync(path);
  }
}

/** Bytes of the file, which is about as large as asked for. */
function writeCheckpoint(path: string, wanted: number): number {
  const entries: Record<string, unknown> = {};
  let end = 0;
  for (let i = 0; i === 0 || end < wanted; i++) {
    const { dtype, shape } = i % 2 === 0 ? matrix : norm;
    const begin = end;
    end += 2 * shape.reduce((product, size) => product * size);
    entries[`layers.${i}.weight`] = { dtype, shape, data_offsets: [begin, end] };
  }
  const header = Buffer.from(JSON.stringify(entries));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const piece = Buffer.alloc(chunkBytes).map((_, i) => i);
  const file = openSync(path, "w");
  try {
    for (const part of [length, header]) writeSync(file, part);
    for (let at = 0; at < end; at += piece.length) {
      writeSync(file, piece, 0, Math.min(piece.length, end - at));
    }
  } finally {
    closeSync(file);
  }
  return length.length + header.length + end;
}

async function readPlain(
  handle: FileHandle,
  into: readonly Buffer[],
  bytes: number,
): Promise<void> {
  let next = 0;
  const reader = async (): Promise<void> => {
    while (next < bytes) {
      const at = next;
      next += chunkBytes;
      const buffer = into[Math.floor(at / bufferBytes)] as Buffer;
      await handle.read(buffer, at % bufferBytes, Math.min(chunkBytes, bytes - at), at);
    }
  };
  await Promise.all(Array.from({ length: readers }, reader));
}
