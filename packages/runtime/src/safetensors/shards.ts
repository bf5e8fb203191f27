import { basename, dirname, join } from "node:path";
import { quote } from "../describe.js";
import { isRecord } from "../records.js";
import { duplicateKey } from "./duplicate-key.js";
import { openFile, readWhole } from "./files.js";
import { broken } from "./format.js";

/** A file of a checkpoint, and which of its tensors are wanted; null for all. */
export interface Shard {
  path: string;
  names: ReadonlySet<string> | null;
}

/** The shards that an index.json names, in the order in which it does. */
export async function readShards(path: string): Promise<Shard[]> {
  const file = basename(path);
  const index = parseIndex(file, await readText(file, path));
  const weightMap = index.weight_map;
  if (!isRecord(weightMap)) throw broken(file, "expected weight_map to be an object");

  const names = new Map<string, Set<string>>();
  for (const [name, shard] of Object.entries(weightMap)) {
    if (typeof shard !== "string" || !isPlainName(shard)) {
      throw broken(file, `tensor ${quote(name)}: expected the name of a file beside the index`);
    }
    const known = names.get(shard);
    if (known === undefined) names.set(shard, new Set([name]));
    else known.add(name);
  }
  return [...names].map(([shard, wanted]) => ({ path: join(dirname(path), shard), names: wanted }));
}

async function readText(file: string, path: string): Promise<string> {
  const handle = await openFile(path);
  try {
    const bytes = await readWhole(file, handle);
    return decode(file, bytes);
  } finally {
    await handle.close();
  }
}

function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw broken(file, "the index is not UTF-8", cause);
  }
}

function parseIndex(file: string, text: string): Record<string, unknown> {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch (cause) {
    throw broken(file, "the index is not JSON", cause);
  }
  if (!isRecord(index)) throw broken(file, "the index is not a JSON object");
  const repeated = duplicateKey(text);
  if (repeated !== null) throw broken(file, `the index has the key ${quote(repeated)} twice`);
  return index;
}

// A downloaded index must not reach outside its folder.
function isPlainName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !/[/\\\0]/.test(name);
}
