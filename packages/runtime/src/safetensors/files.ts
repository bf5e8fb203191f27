// Reading files: whatever fails is ERR_FILE with the file's name.
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename } from "node:path";
import { getSystemErrorMap } from "node:util";
import type { Block } from "../internals.js";
import { native, type StreamHandle } from "../native.js";
import { broken, reasonOf } from "./format.js";

/** Opens a regular file for reading. */
export async function openFile(path: string): Promise<FileHandle> {
  const file = basename(path);
  try {
    // Asked before, because opening a pipe waits for somebody to write to it.
    if ((await stat(path)).isFile()) return await open(path, "r");
  } catch (cause) {
    throw broken(file, `cannot open it: ${reasonOf(cause)}`, cause);
  }
  throw broken(file, "expected a file");
}

/** Fills the array from a position in the file. */
export async function readFully(
  file: string,
  handle: FileHandle,
  into: Uint8Array,
  position: number,
): Promise<void> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await readable(
      file,
      handle.read(into, done, into.length - done, position + done),
    );
    if (bytesRead === 0) throw broken(file, "the file is cut off");
    done += bytesRead;
  }
}

/** Fills a new block, which is dense, from a position in the file; bool takes any but 0 as 1. */
export async function readBlock(
  file: string,
  handle: FileHandle,
  into: Block,
  { position, bytes }: { position: number; bytes: number },
  stream: StreamHandle | null,
): Promise<void> {
  const asBool = into.dtype === "bool";
  try {
    await native().readFile(handle.fd, position, into.handle, 0, bytes, asBool, stream);
  } catch (cause) {
    throw fileFault(file, cause as { code?: unknown; errno?: number });
  }
}

/** The fault in the words that Node.js has for it. */
function fileFault(file: string, cause: { code?: unknown; errno?: number }): unknown {
  if (cause.code !== "ERR_FILE" || cause.errno === undefined) return cause;
  if (cause.errno === 0) return broken(file, "the file is cut off");
  const [name, text] = getSystemErrorMap().get(cause.errno) ?? [`errno ${cause.errno}`, "unknown"];
  return broken(file, `cannot read it: ${name}: ${text}, read`, cause);
}

/** All of the file. */
export async function readWhole(file: string, handle: FileHandle): Promise<Uint8Array> {
  return readable(file, handle.readFile());
}

async function readable<T>(file: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw broken(file, `cannot read it: ${reasonOf(cause)}`, cause);
  }
}
