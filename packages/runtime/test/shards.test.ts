import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectFailure } from "../../../tooling/vitest/failures.js";
import { loadSafetensors, ones, saveSafetensors, zeros } from "../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

describe("shards", () => {
  const index = (map: Record<string, unknown>): string =>
    JSON.stringify({ metadata: { total_size: 8 }, weight_map: map });

  test("an index loads what it names from each shard", async () => {
    await saveSafetensors(
      at("s1.safetensors"),
      { a: ones([1]), other: ones([1]) },
      {
        metadata: { format: "pt" },
      },
    );
    await saveSafetensors(at("s2.safetensors"), { b: zeros([2]) });
    const map = { a: "s1.safetensors", b: "s2.safetensors" };
    writeFileSync(at("model.safetensors.index.json"), index(map));
    const loaded = await loadSafetensors(at("model.safetensors.index.json"));
    expect([...loaded.tensors.keys()]).toEqual(["a", "b"]);
    expect(loaded.metadata).toEqual({ format: "pt" });
  });

  test.each<[string, string | Uint8Array, string]>([
    ["no JSON", "{", "loadSafetensors: bad.index.json: the index is not JSON"],
    ["an array", "[]", "loadSafetensors: bad.index.json: the index is not a JSON object"],
    [
      "no UTF-8",
      new Uint8Array([0x22, 0xff, 0x22]),
      "loadSafetensors: bad.index.json: the index is not UTF-8",
    ],
    ["no weight_map", "{}", "loadSafetensors: bad.index.json: expected weight_map to be an object"],
    [
      "a number as file",
      index({ a: 1 }),
      'loadSafetensors: bad.index.json: tensor "a": expected the name of a file beside the index',
    ],
    [
      "a file elsewhere",
      index({ a: "../s1.safetensors" }),
      'loadSafetensors: bad.index.json: tensor "a": expected the name of a file beside the index',
    ],
    [
      "a tensor twice",
      '{"weight_map": {"a": "x", "a": "y"}}',
      'loadSafetensors: bad.index.json: the index has the key "a" twice',
    ],
    [
      "a missing shard",
      index({ a: "missing.safetensors" }),
      "loadSafetensors: missing.safetensors: cannot open it: ENOENT*",
    ],
    [
      "a tensor that its shard lacks",
      index({ gone: "s1.safetensors" }),
      'loadSafetensors: s1.safetensors: the index expects tensor "gone" here',
    ],
  ])("an index with %s is ERR_FILE", async (_, content, message) => {
    writeFileSync(at("bad.index.json"), content);
    const load = (): unknown => loadSafetensors(at("bad.index.json"));
    await expectFailure(`ERR_FILE ${message}`, load);
  });
});
