// The safetensors file format: an 8-byte little-endian length, a JSON header of that length, and
// the tensors' bytes, which the header must cover without gap or overlap.

import { cut, quote, shapeText } from "../describe.js";
import type { DType } from "../dtypes.js";
import { fileError } from "../errors.js";
import { isRecord } from "../records.js";
import { duplicateKey } from "./duplicate-key.js";

/** What a file's header says of one tensor. */
export interface SafetensorsEntry {
  name: string;
  /** The file's own name of the dtype, such as "BF16"; files may have dtypes that tensors lack. */
  dtype: string;
  shape: readonly number[];
  /** First byte, and the one behind the last, counted from the end of the header. */
  begin: number;
  end: number;
}

export interface SafetensorsHeader {
  /** In the order of their bytes. */
  entries: SafetensorsEntry[];
  metadata: Record<string, string>;
}

export const lengthBytes = 8;
export const maxHeaderBytes = 100_000_000;

export const fileDTypes: Readonly<Record<string, DType>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
  I32: "int32",
  I64: "int64",
  U8: "uint8",
  BOOL: "bool",
};

// Bits an element takes, also of dtypes that tensors lack: their extent is checked all the same.
const bits: Readonly<Record<string, number>> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  I64: 64,
  U64: 64,
  F64: 64,
  C64: 64,
};

/** The length of the header, from the file's first 8 bytes, or ERR_FILE. */
export function parseHeaderLength(file: string, bytes: Uint8Array, fileBytes: number): number {
  if (bytes.length < lengthBytes) {
    throw broken(file, `expected at least ${lengthBytes} bytes, got ${bytes.length}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, lengthBytes);
  const length = view.getBigUint64(0, true);
  if (length > BigInt(maxHeaderBytes)) {
    throw broken(file, `expected a header of at most ${maxHeaderBytes} bytes, got ${length}`);
  }
  if (Number(length) + lengthBytes > fileBytes) {
    const available = fileBytes - lengthBytes;
    throw broken(file, `expected a header of ${length} bytes, got ${available}: it is cut off`);
  }
  return Number(length);
}

/** The header, checked against the bytes that follow it, or ERR_FILE. */
export function parseHeader(file: string, bytes: Uint8Array, dataBytes: number): SafetensorsHeader {
  const text = decode(file, bytes);
  const header = parseJson(file, text);
  const repeated = duplicateKey(text);
  if (repeated !== null) throw broken(file, `the header has the key ${quote(repeated)} twice`);

  const { __metadata__: metadata = {}, ...tensors } = header;
  const entries = Object.entries(tensors).map(([name, value]) => parseEntry(file, name, value));
  entries.sort((a, b) => a.begin - b.begin || a.end - b.end);
  checkCover(file, entries, dataBytes);
  return { entries, metadata: parseMetadata(file, metadata) };
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw broken(file, "the header is not UTF-8", cause);
  }
}

function parseJson(file: string, text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = JSON.parse(text);
  } catch (cause) {
    throw broken(file, "the header is not JSON", cause);
  }
  if (text.startsWith("{") && isRecord(header)) return header;
  throw broken(file, "the header is not a JSON object");
}

function parseEntry(file: string, name: string, value: unknown): SafetensorsEntry {
  const fault = (what: string): Error => broken(file, `tensor ${quote(name)}: ${what}`);
  if (!isRecord(value)) throw fault("expected an object with dtype, shape and data_offsets");
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string") throw fault("expected dtype to be a string");
  if (!isCounts(shape)) throw fault("expected shape to be an array of integers of at least 0");
  if (!isCounts(offsets) || offsets.length !== 2) {
    throw fault("expected data_offsets to be two integers of at least 0");
  }
  const [begin, end] = offsets as [number, number];
  if (begin > end) throw fault(`expected data_offsets in order, got [${begin}, ${end}]`);

  const width = Object.hasOwn(bits, dtype) ? bits[dtype]! / 8 : null;
  if (width !== null) {
    const needed = shape.reduce((product, size) => product * size, width);
    if (needed !== end - begin) {
      throw fault(`expected ${needed} bytes for ${dtype} ${shapeText(shape)}, got ${end - begin}`);
    }
  }
  return { name, dtype, shape, begin, end };
}

function checkCover(file: string, entries: readonly SafetensorsEntry[], dataBytes: number): void {
  let covered = 0;
  for (const { name, begin, end } of entries) {
    if (begin !== covered) {
      const what = begin < covered ? "overlaps the tensor before it" : "leaves a gap before it";
      throw broken(file, `tensor ${quote(name)}: ${what}: expected it at ${covered}, got ${begin}`);
    }
    if (end > dataBytes) {
      throw broken(
        file,
        `tensor ${quote(name)}: expected ${end} bytes of data, got ${dataBytes}: ` +
          "the file is cut off",
      );
    }
    covered = end;
  }
  if (covered !== dataBytes) {
    throw broken(file, `expected ${covered} bytes of data, got ${dataBytes}`);
  }
}

function parseMetadata(file: string, metadata: unknown): Record<string, string> {
  if (!isRecord(metadata)) throw broken(file, "expected __metadata__ to be an object");
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== "string") {
      throw broken(file, `expected __metadata__ ${quote(key)} to be a string`);
    }
  }
  return metadata as Record<string, string>;
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((count) => Number.isSafeInteger(count) && count >= 0);
}

/** ERR_FILE that names the file. */
export function broken(file: string, what: string, cause?: unknown): Error {
  return fileError(`loadSafetensors: ${cut(file)}: ${what}`, cause);
}

/** What the system says of a file, of which a path may fill any number of characters. */
export function reasonOf(cause: unknown): string {
  return cut((cause as Error).message, 400);
}
