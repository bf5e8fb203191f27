import { readFileSync } from "node:fs";

import type { DType } from "@warpwright/runtime";

import { fileError } from "./errors.js";

/** A case as the file's metadata has it: arguments and results are names of stored tensors. */
export interface RecordedCase {
  name: string;
  op: string;
  options: object;
  inputs: Record<string, string>;
  expected: Record<string, string>;
  torch_err: Record<string, number>;
}

/** A tensor's bytes, little-endian and row-major. */
export interface StoredTensor {
  dtype: DType;
  shape: readonly number[];
  bytes: Uint8Array;
}

export interface GoldenFile {
  cases: RecordedCase[];
  /** Throws ERR_FILE for a name that the file does not have. */
  tensor(name: string): StoredTensor;
}

interface TensorEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

const dtypes: Readonly<Record<string, DType>> = {
  F32: "float32",
  F16: "float16",
  BF16: "bfloat16",
  I32: "int32",
  I64: "int64",
  BOOL: "bool",
};

/**
 * Reads a golden file. The runtime's own reader is not used: it is asynchronous, and the names of
 * tests have to be there when the test file is loaded.
 *
 * @throws Error ERR_FILE where it is missing or no golden file
 */
export function readGolden(path: string): GoldenFile {
  const file = readBytes(path);
  const headerBytes = file.length < 8 ? 0 : Number(file.readBigUInt64LE(0));
  const { __metadata__: metadata, ...entries } = parseHeader(path, file, headerBytes);
  const data = file.subarray(8 + headerBytes);
  return {
    cases: parseCases(path, metadata),
    tensor: (name) => readTensor(path, name, entries[name] as TensorEntry | undefined, data),
  };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw fileError(
      `no golden file ${path}; the npm package leaves them out: clone the repository, ` +
        "or pass the folder that holds them as `directory`",
      cause,
    );
  }
}

function parseHeader(path: string, file: Buffer, bytes: number): Record<string, unknown> {
  try {
    return JSON.parse(file.toString("utf8", 8, 8 + bytes)) as Record<string, unknown>;
  } catch (cause) {
    throw fileError(`${path} is not a .safetensors file`, cause);
  }
}

function parseCases(path: string, metadata: unknown): RecordedCase[] {
  const { cases } = (metadata ?? {}) as { cases?: string };
  if (cases === undefined) throw fileError(`${path} has no list of cases in its metadata`);
  return JSON.parse(cases) as RecordedCase[];
}

function readTensor(
  path: string,
  name: string,
  entry: TensorEntry | undefined,
  data: Buffer,
): StoredTensor {
  const dtype = entry && dtypes[entry.dtype];
  if (entry === undefined || dtype === undefined) {
    throw fileError(`${path} has no tensor ${name} of a known dtype`);
  }
  return { dtype, shape: entry.shape, bytes: data.subarray(...entry.data_offsets) };
}
