// Reading files: whatever fails is ERR_FILE with the file's name.
import { type FileHandle, open, stat } from "node:fs/promises";
import { basename } from "node:path";
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
