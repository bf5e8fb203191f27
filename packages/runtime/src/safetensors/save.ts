import { randomBytes } from "node:crypto";
import { type FileHandle, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { types } from "node:util";
import { convertBlock, live } from "../blocks.js";
import { cut, describe, quote } from "../describe.js";
import { type DType, dtypeBytes } from "../dtypes.js";
import { fileError, kindError, valueError } from "../errors.js";
import type { Block } from "../internals.js";
import { checkOptions } from "../kernel/checks.js";
import { checkTensor } from "../kernel/handles.js";
import { elementCount, isDense } from "../layout.js";
import { native } from "../native.js";
import { isRecord } from "../records.js";
import { streamFor } from "../streams.js";
import type { Tensor } from "../tensor.js";
import { fileDTypes, lengthBytes, maxHeaderBytes, reasonOf } from "./format.js";

/** Options of saveSafetensors(). */
export interface SaveSafetensorsOptions {
  /** Strings by name. Default: none. */
  metadata?: Readonly<Record<string, string>> | undefined;
}

interface Item {
  name: string;
  block: Block;
  bytes: number;
}

const op = "saveSafetensors";
// What a read from a device moves without a copy of its own on the device.
const chunkBytes = 4 * 2 ** 20;

// Half of a pair in UTF-16, which UTF-8 cannot have.
const halfCharacter = /\p{Surrogate}/u;

const fileNames = new Map(Object.entries(fileDTypes).map(([name, dtype]) => [dtype, name]));

/**
 * Saves tensors, of any device and strides, as a .safetensors file. It is written beside the target
 * and renamed when complete, so that no reader sees half a file. A file that it replaces gives it
 * its permissions, and a symbolic link stays one. The tensors may be disposed before the promise
 * resolves, but not written to.
 *
 * @param tensors by name
 * @throws (as rejections) TypeError ERR_KIND; RangeError ERR_VALUE for a name or metadata that the
 *   format does not have; Error ERR_DISPOSED, ERR_FILE where the file cannot be written; CudaError
 *
 * @example
 * import { ones, saveSafetensors } from "@warpwright/runtime";
 *
 * await saveSafetensors("model.safetensors", { weight: ones([64]) }, { metadata: { step: "1" } });
 */
export async function saveSafetensors(
  path: string,
  tensors: ReadonlyMap<string, Tensor> | Readonly<Record<string, Tensor>>,
  options: SaveSafetensorsOptions = {},
): Promise<void> {
  const metadata = parseArguments(path, tensors, options);
  const items = collect(tensors);
  try {
    await writeBeside(path, header(items, metadata), items);
  } finally {
    for (const { block } of items) native().dispose(block.handle);
  }
}

function parseArguments(
  path: unknown,
  tensors: unknown,
  options: SaveSafetensorsOptions,
): Readonly<Record<string, string>> {
  if (typeof path !== "string") {
    throw kindError(`${op}: expected path to be a string, got ${describe(path)}`);
  }
  if (!types.isMap(tensors) && !isRecord(tensors)) {
    throw kindError(`${op}: expected tensors to be a Map or an object, got ${describe(tensors)}`);
  }
  checkOptions(op, options, ["metadata"]);
  const { metadata = {} } = options;
  if (!isRecord(metadata)) {
    throw kindError(`${op}: expected metadata to be an object, got ${describe(metadata)}`);
  }
  const entries = Object.entries(metadata);
  for (const [key, value] of entries) {
    if (typeof value !== "string") {
      throw kindError(
        `${op}: expected metadata ${quote(key)} to be a string, got ${describe(value)}`,
      );
    }
    if (halfCharacter.test(key) || halfCharacter.test(value)) {
      throw valueError(`${op}: expected metadata ${quote(key)} of whole characters`);
    }
  }
  return Object.fromEntries(entries);
}

/** The tensors in the file's order, with a reference of ours to each. */
function collect(tensors: ReadonlyMap<string, Tensor> | Readonly<Record<string, Tensor>>): Item[] {
  const named = types.isMap(tensors) ? [...tensors] : Object.entries(tensors);
  for (const [name, tensor] of named as [unknown, unknown][]) {
    if (typeof name !== "string") {
      throw kindError(`${op}: expected names to be strings, got ${describe(name)}`);
    }
    if (name === "__metadata__" || halfCharacter.test(name)) {
      throw valueError(`${op}: expected the name of a tensor, got ${quote(name)}`);
    }
    checkTensor(op, quote(name), tensor);
  }
  const items = (named as [string, Tensor][]).map(([name, tensor]) => {
    const block = { ...live(op, tensor), handle: native().share(live(op, tensor).handle) };
    return { name, block, bytes: tensor.byteLength };
  });
  // Wide elements first keeps every tensor aligned to its elements.
  const width = ({ block }: Item): number => dtypeBytes(block.dtype);
  return items.sort((a, b) => width(b) - width(a) || (a.name < b.name ? -1 : 1));
}

function header(items: readonly Item[], metadata: Readonly<Record<string, string>>): Uint8Array {
  const entries: [string, unknown][] = [];
  if (Object.keys(metadata).length > 0) entries.push(["__metadata__", metadata]);
  let begin = 0;
  for (const { name, block, bytes } of items) {
    const offsets = [begin, begin + bytes];
    begin += bytes;
    const dtype = fileNames.get(block.dtype as DType);
    entries.push([name, { dtype, shape: block.shape, data_offsets: offsets }]);
  }
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)));
  const length = Math.ceil(json.length / lengthBytes) * lengthBytes;
  if (length > maxHeaderBytes) {
    throw valueError(`${op}: expected a header of at most ${maxHeaderBytes} bytes, got ${length}`);
  }
  const bytes = new Uint8Array(lengthBytes + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, lengthBytes);
  return bytes;
}

async function writeBeside(path: string, head: Uint8Array, items: readonly Item[]): Promise<void> {
  const target = await onDisk(path, resolveTarget(path));
  const mode = await modeOf(path, target);
  const temporary = `${target}.${randomBytes(6).toString("hex")}.part`;
  try {
    const handle = await onDisk(path, open(temporary, "wx", mode));
    try {
      if (mode !== undefined) await onDisk(path, handle.chmod(mode)); // whatever the umask took
      await onDisk(path, handle.writeFile(head));
      for (const item of items) await writeItem(path, handle, item);
      await onDisk(path, handle.sync());
    } finally {
      await onDisk(path, handle.close());
    }
    await onDisk(path, rename(temporary, target));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the first error is the one to tell
    throw error;
  }
}

/** The file to replace: the one behind a symbolic link, which stays, whether it is there or not. */
async function resolveTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT") throw error;
  }
  const link = await readlink(path).catch(() => null);
  if (link === null) return path;
  return resolveTarget(resolve(await realpath(dirname(path)), link));
}

/** The permissions of a file that is there; ERR_FILE for what a rename must not replace. */
async function modeOf(path: string, target: string): Promise<number | undefined> {
  const found = await stat(target).catch(() => null);
  if (found === null) return undefined;
  if (found.isFile()) return found.mode & 0o7777;
  throw fileError(`${op}: ${cut(basename(path))}: expected a file`);
}

async function onDisk<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    const reason = `cannot write it: ${reasonOf(cause)}`;
    throw fileError(`${op}: ${cut(basename(path))}: ${reason}`, cause);
  }
}

async function writeItem(path: string, handle: FileHandle, { block, bytes }: Item): Promise<void> {
  if (elementCount(block.shape) === 0) return;
  const stream = streamFor(op, block.device);
  const dense = isDense(block) ? block : convertBlock(op, block, block.dtype, stream);
  try {
    const start = dense.offset * dtypeBytes(dense.dtype);
    const chunk = new Uint8Array(Math.min(bytes, chunkBytes));
    for (let at = 0; at < bytes; at += chunk.length) {
      const piece = chunk.subarray(0, Math.min(chunk.length, bytes - at));
      if (block.device === "cpu") native().readSync(dense.handle, start + at, piece, null);
      else await native().read(dense.handle, start + at, piece, stream);
      await onDisk(path, handle.writeFile(piece));
    }
  } finally {
    if (dense !== block) native().dispose(dense.handle);
  }
}
