// What surrounds the tensors of a checkpoint: arguments of the wrong kind, and what may be at a
// path besides a plain file.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import { loadSafetensors, ones, saveSafetensors } from "../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
const at = (name: string): string => join(folder, name);
beforeAll(() => execFileSync("mkfifo", [at("pipe"), at("pipe.json")]));
afterAll(() => rmSync(folder, { recursive: true }));

const x = ones([2]);

async function namesIn(path: string): Promise<string[]> {
  const { tensors } = await loadSafetensors(path);
  return [...tensors.keys()];
}

describe("saveSafetensors", () => {
  test("keeps the permissions of the file that it replaces", async () => {
    await saveSafetensors(at("private"), { x });
    for (const mode of [0o600, 0o640, 0o777]) {
      chmodSync(at("private"), mode);
      await saveSafetensors(at("private"), { y: x });
      expect(statSync(at("private")).mode & 0o777).toBe(mode);
    }
    expect(await namesIn(at("private"))).toEqual(["y"]);
  });

  test("writes behind a symbolic link, which stays", async () => {
    writeFileSync(at("real"), "");
    symlinkSync("real", at("link"));
    await saveSafetensors(at("link"), { x });
    expect(lstatSync(at("link")).isSymbolicLink()).toBe(true);
    expect(await namesIn(at("real"))).toEqual(["x"]);
  });

  test("writes what a symbolic link points to for the first time", async () => {
    symlinkSync("later", at("first"));
    symlinkSync("first", at("second"));
    await saveSafetensors(at("second"), { x });
    expect(readlinkSync(at("second"))).toBe("first");
    expect(await namesIn(at("later"))).toEqual(["x"]);
  });

  test("takes metadata as it is, whatever else the object has", async () => {
    class Metadata {
      toJSON = "no function";
      inherited(): string {
        return "";
      }
    }
    await saveSafetensors(at("metadata"), {}, { metadata: wrong(new Metadata()) });
    expect((await loadSafetensors(at("metadata"))).metadata).toEqual({ toJSON: "no function" });
  });
});

describe("loadSafetensors", () => {
  test("a filter cannot change what is loaded", async () => {
    await saveSafetensors(at("filtered"), { x: ones([2, 3]) });
    const { tensors } = await loadSafetensors(at("filtered"), {
      filter: (_, info) => {
        expect(() => Object.assign(info.shape, [3, 2])).toThrow(TypeError);
        expect(() => Object.assign(info, { dtype: "I32" })).toThrow(TypeError);
        return true;
      },
    });
    expect([tensors.get("x")?.shape, tensors.get("x")?.dtype]).toEqual([[2, 3], "float32"]);
  });

  test("a BOOL tensor is 0 and 1, whatever the file's bytes", async () => {
    const header = Buffer.from('{"x":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}}');
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(header.length));
    writeFileSync(at("bool"), Buffer.concat([length, header, Buffer.from([0, 1, 2, 255])]));
    const { tensors } = await loadSafetensors(at("bool"));
    expect([...(await tensors.get("x")!.bytes())]).toEqual([0, 1, 1, 1]);
  });
});

const failures: Failure[] = [
  ...(
    [
      [new Set([x]), "a Set"],
      [Promise.resolve({ x }), "a promise"],
      [new Date(), "a Date"],
      [new Float32Array(1), "a Float32Array"],
    ] as const
  ).map(
    ([value, found]): Failure => [
      `ERR_KIND saveSafetensors: expected tensors to be a Map or an object, got ${found}`,
      () => saveSafetensors(at("refused"), wrong(value)),
    ],
  ),
  [
    "ERR_KIND saveSafetensors: expected metadata to be an object, got a Map",
    () => saveSafetensors(at("refused"), {}, { metadata: wrong(new Map([["a", "b"]])) }),
  ],
  [
    "ERR_KIND saveSafetensors: expected options to be an object, got a Map",
    () => saveSafetensors(at("refused"), {}, wrong(new Map())),
  ],
  [
    'ERR_VALUE saveSafetensors: expected metadata "a" of whole characters',
    () => saveSafetensors(at("refused"), {}, { metadata: { a: "b\udc00" } }),
  ],
  [
    'ERR_VALUE saveSafetensors: expected metadata "\\ud800" of whole characters',
    () => saveSafetensors(at("refused"), {}, { metadata: { "\ud800": "a" } }),
  ],
  [
    "ERR_FILE saveSafetensors: refused\0: cannot write it: *null bytes*",
    () => saveSafetensors(at("refused\0"), {}),
  ],
  [
    "ERR_FILE loadSafetensors: refused\0: cannot open it: *null bytes*",
    () => loadSafetensors(at("refused\0")),
  ],
  ["ERR_FILE saveSafetensors: pipe: expected a file", () => saveSafetensors(at("pipe"), {})],
  ["ERR_FILE saveSafetensors: null: expected a file", () => saveSafetensors("/dev/null", {})],
  ["ERR_FILE loadSafetensors: pipe: expected a file", () => loadSafetensors(at("pipe"))],
  ["ERR_FILE loadSafetensors: pipe.json: expected a file", () => loadSafetensors(at("pipe.json"))],
  ["ERR_FILE loadSafetensors: null: expected a file", () => loadSafetensors("/dev/null")],
  [
    `ERR_FILE saveSafetensors: ${"x".repeat(77)}...: cannot write it: ENAMETOOLONG*...`,
    () => saveSafetensors(at("x".repeat(1e6)), {}),
  ],
  [
    `ERR_FILE loadSafetensors: ${"x".repeat(77)}...: cannot open it: ENAMETOOLONG*...`,
    () => loadSafetensors(at("x".repeat(1e6))),
  ],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
  expect(readdirSync(folder).filter((name) => /refused|part$/.test(name))).toEqual([]);
});
