import type { FileHandle } from "node:fs/promises";
import { basename } from "node:path";
import { type Device, parseShape } from "../arguments.js";
import { allocateBlock, convertBlock } from "../blocks.js";
import { describe, isPromise, listOf, quote } from "../describe.js";
import { usableDevice } from "../devices.js";
import type { DisposableWhereDeclared } from "../disposing.js";
import { type DType, type FloatDType, isFloat, parseDType } from "../dtypes.js";
import { dtypeError, kindError } from "../errors.js";
import type { Block, DeviceName } from "../internals.js";
import { checkOptions } from "../kernel/checks.js";
import { makeTensor } from "../making.js";
import { native, type StreamHandle } from "../native.js";
import { streamFor } from "../streams.js";
import type { Tensor } from "../tensor.js";
import { openFile, readBlock, readFully } from "./files.js";
import {
  broken,
  fileDTypes,
  lengthBytes,
  parseHeader,
  parseHeaderLength,
  type SafetensorsEntry,
  type SafetensorsHeader,
} from "./format.js";
import { InFlight } from "./in-flight.js";
import { readShards } from "./shards.js";

/** What the filter of loadSafetensors decides by; a frozen copy. */
export interface SafetensorsInfo {
  /** The file's own name of the dtype, such as "BF16". */
  readonly dtype: string;
  readonly shape: readonly number[];
}

/** Options of loadSafetensors(). */
export interface LoadSafetensorsOptions {
  /** Default "cpu". */
  device?: Device | undefined;
  /** What float tensors are converted to; the others keep their dtype. Default: as stored. */
  dtype?: FloatDType | undefined;
  /** Whether to load a tensor. Default: all. */
  filter?: ((name: string, info: SafetensorsInfo) => boolean) | undefined;
}

/** The tensors of a checkpoint; `using` disposes them. */
export type Safetensors = DisposableWhereDeclared & {
  tensors: Map<string, Tensor>;
  /** The files' metadata, of all shards together. */
  metadata: Record<string, string>;
  /** Disposes all the tensors. */
  dispose(): void;
};

const op = "loadSafetensors";

interface Plan {
  device: DeviceName;
  dtype: FloatDType | undefined;
  filter: LoadSafetensorsOptions["filter"];
}

/**
 * Loads a .safetensors file, or all shards that a model.safetensors.index.json names, which lie
 * beside it. Reads in pieces of 4 MiB, several at a time and off JavaScript's thread, straight to
 * the device; a conversion needs memory for one large tensor twice. Nothing is left behind on an
 * error.
 * In a BOOL tensor any byte but 0 counts as 1; other readers take such a file too.
 *
 * @throws (as rejections) Error ERR_FILE for a file that cannot be read, that is cut off or
 *   inconsistent, or that has a dtype that tensors lack and the filter wants; TypeError ERR_KIND,
 *   ERR_DTYPE; Error ERR_DEVICE; CudaError
 *
 * @example
 * import { loadSafetensors, ones, saveSafetensors } from "@warpwright/runtime";
 *
 * await saveSafetensors("model.safetensors", { "norm.weight": ones([64]) });
 * const model = await loadSafetensors("model.safetensors", { dtype: "bfloat16" });
 * const weight = model.tensors.get("norm.weight");
 * model.dispose();
 */
export async function loadSafetensors(
  path: string,
  options: LoadSafetensorsOptions = {},
): Promise<Safetensors> {
  const plan = parseOptions(path, options);
  const tensors = new Map<string, Tensor>();
  const metadata = new Map<string, string>();
  const dispose = (): void => {
    for (const tensor of tensors.values()) tensor.dispose();
  };
  try {
    const shards = path.endsWith(".json") ? await readShards(path) : [{ path, names: null }];
    for (const shard of shards) {
      await loadFile(shard.path, shard.names, plan, tensors, metadata);
    }
  } catch (error) {
    dispose();
    throw error;
  }
  const loaded = { tensors, metadata: Object.fromEntries(metadata), dispose };
  return Object.defineProperty(loaded, Symbol.dispose, { value: dispose }) as Safetensors;
}

function parseOptions(path: unknown, options: LoadSafetensorsOptions): Plan {
  if (typeof path !== "string") {
    throw kindError(`${op}: expected path to be a string, got ${describe(path)}`);
  }
  checkOptions(op, options, ["device", "dtype", "filter"]);
  const { device = "cpu", dtype: wanted, filter } = options;
  const dtype = wanted === undefined ? undefined : parseDType(op, wanted);
  if (dtype !== undefined && !isFloat(dtype)) {
    throw dtypeError(`${op}: expected dtype float32, float16 or bfloat16, got ${dtype}`);
  }
  if (filter !== undefined && typeof filter !== "function") {
    throw kindError(`${op}: expected filter to be a function, got ${describe(filter)}`);
  }
  return { device: usableDevice(op, device), dtype, filter };
}

/** @param names the tensors that the index expects in this shard; null for all there are */
async function loadFile(
  path: string,
  names: ReadonlySet<string> | null,
  plan: Plan,
  tensors: Map<string, Tensor>,
  metadata: Map<string, string>,
): Promise<void> {
  const file = basename(path);
  const handle = await openFile(path);
  try {
    const { header, dataStart } = await readHeader(file, handle);
    const stored = new Set(header.entries.map(({ name }) => name));
    for (const name of names ?? []) {
      if (!stored.has(name)) throw broken(file, `the index expects tensor ${quote(name)} here`);
    }
    for (const [key, value] of Object.entries(header.metadata)) metadata.set(key, value);
    const wanting = header.entries.filter(({ name }) => names === null || names.has(name));
    for (const [name, tensor] of await loadEntries({ file, handle, dataStart }, wanting, plan)) {
      tensors.set(name, tensor);
    }
  } finally {
    await handle.close();
  }
}

/** Where the bytes of a file's tensors are. */
interface Source {
  file: string;
  handle: FileHandle;
  dataStart: number;
}

/** The tensors that the filter wants, in the file's order, several being read at a time. */
async function loadEntries(
  source: Source,
  entries: readonly SafetensorsEntry[],
  plan: Plan,
): Promise<Map<string, Tensor>> {
  const loaded = new Map<string, Tensor | null>();
  const inFlight = new InFlight();
  try {
    for (const entry of entries) {
      if (!wanted(entry, plan)) continue;
      loaded.set(entry.name, null);
      await inFlight.add(convertedBytes(entry, plan), async () => {
        loaded.set(entry.name, await loadTensor(source, entry, plan));
      });
    }
    await inFlight.finish();
    return loaded as Map<string, Tensor>;
  } catch (error) {
    await inFlight.settle();
    for (const tensor of loaded.values()) tensor?.dispose();
    throw error;
  }
}

/** What the stored elements take beside the tensor that is made of them. */
function convertedBytes({ dtype, begin, end }: SafetensorsEntry, plan: Plan): number {
  const stored = fileDTypes[dtype];
  const stays = plan.dtype === undefined || stored === undefined || stored === plan.dtype;
  return stays || !isFloat(stored) ? 0 : end - begin;
}

async function readHeader(
  file: string,
  handle: FileHandle,
): Promise<{ header: SafetensorsHeader; dataStart: number }> {
  const { size } = await handle.stat();
  const length = new Uint8Array(Math.min(size, lengthBytes));
  await readFully(file, handle, length, 0);
  const bytes = new Uint8Array(parseHeaderLength(file, length, size));
  await readFully(file, handle, bytes, lengthBytes);
  const dataStart = lengthBytes + bytes.length;
  return { header: parseHeader(file, bytes, size - dataStart), dataStart };
}

function wanted({ name, dtype, shape }: SafetensorsEntry, { filter }: Plan): boolean {
  if (filter === undefined) return true;
  const info = Object.freeze({ dtype, shape: Object.freeze([...shape]) });
  const answer: unknown = filter(name, info);
  if (!isPromise(answer)) return Boolean(answer);
  answer.then(undefined, () => {});
  throw kindError(`${op}: expected filter to return a boolean, got a promise`);
}

async function loadTensor(
  { file, handle, dataStart }: Source,
  entry: SafetensorsEntry,
  plan: Plan,
): Promise<Tensor> {
  const stored = fileDTypes[entry.dtype];
  if (stored === undefined || !Object.hasOwn(fileDTypes, entry.dtype)) {
    const known = listOf(Object.keys(fileDTypes));
    throw broken(
      file,
      `tensor ${quote(entry.name)}: expected dtype ${known}, got ${quote(entry.dtype)}`,
    );
  }
  const stream = streamFor(op, plan.device);
  const shape = checkedShape(file, entry, stored);
  const block = allocateBlock(op, shape, stored, plan.device, stream);
  try {
    const span = { position: dataStart + entry.begin, bytes: entry.end - entry.begin };
    await readBlock(file, handle, block, span, stream);
    return makeTensor(inDType(block, plan, stream));
  } catch (error) {
    native().dispose(block.handle);
    throw error;
  }
}

function checkedShape(file: string, entry: SafetensorsEntry, dtype: DType): readonly number[] {
  try {
    return parseShape(op, entry.shape, dtype);
  } catch (cause) {
    const reason = (cause as Error).message.replace(`${op}: `, "");
    throw broken(file, `tensor ${quote(entry.name)}: ${reason}`, cause);
  }
}

function inDType(block: Block, { dtype }: Plan, stream: StreamHandle | null): Block {
  if (dtype === undefined || dtype === block.dtype || !isFloat(block.dtype)) return block;
  const converted = convertBlock(op, block, dtype, stream);
  native().dispose(block.handle);
  return converted;
}
