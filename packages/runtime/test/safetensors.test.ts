import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { expectFailure, type Failure, wrong } from "../../../tooling/vitest/failures.js";
import {
  arange,
  type DType,
  loadSafetensors,
  ones,
  randn,
  saveSafetensors,
  type Tensor,
  tensor,
  zeros,
} from "../src/index.js";

const folder = mkdtempSync(join(tmpdir(), "warpwright-"));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const dtypes: DType[] = ["float32", "float16", "bfloat16", "int32", "int64", "uint8", "bool"];

describe("safetensors", () => {
  test("every dtype comes back as it was", async () => {
    const saved = Object.fromEntries(
      dtypes.map((dtype) => [dtype, arange(6, { dtype }).view(2, 3)]),
    );
    await saveSafetensors(at("dtypes.safetensors"), saved);
    const { tensors } = await loadSafetensors(at("dtypes.safetensors"));
    expect([...tensors.keys()].sort()).toEqual([...dtypes].sort());
    for (const [name, x] of Object.entries(saved)) {
      const loaded = tensors.get(name)!;
      expect([loaded.dtype, loaded.shape]).toEqual([x.dtype, x.shape]);
      expect(await loaded.bytes()).toEqual(await x.bytes());
    }
  });

  test("using disposes what was loaded", async () => {
    await saveSafetensors(at("used.safetensors"), { x: ones([2]) });
    let x: Tensor;
    {
      using model = await loadSafetensors(at("used.safetensors"));
      x = model.tensors.get("x")!;
      expect(x.disposed).toBe(false);
    }
    expect(x.disposed).toBe(true);
  });

  test("shapes, names and metadata come back as they were", async () => {
    const tensors = new Map([
      ["scalar", tensor(3)],
      ["empty", zeros([2, 0])],
      ['a long name: "quoted", ünï, 日本, \u{1f600}', ones([1])],
      ["__proto__", ones([2])],
      ["", ones([3])],
    ]);
    const metadata = { format: "pt", "a key": 'a "value"', ["__proto__"]: "safe" };
    await saveSafetensors(at("names.safetensors"), tensors, { metadata });
    const loaded = await loadSafetensors(at("names.safetensors"));
    expect([...loaded.tensors.keys()].sort()).toEqual([...tensors.keys()].sort());
    expect(await loaded.tensors.get("scalar")?.item()).toBe(3);
    expect(loaded.tensors.get("empty")?.shape).toEqual([2, 0]);
    expect(loaded.metadata).toEqual(metadata);
  });

  test("views are saved as they read", async () => {
    const x = arange(6).view(2, 3);
    await saveSafetensors(at("view.safetensors"), { t: x.transpose(), n: x.narrow(1, 1, 1) });
    const { tensors } = await loadSafetensors(at("view.safetensors"));
    expect(await tensors.get("t")?.tolist()).toEqual([
      [0, 3],
      [1, 4],
      [2, 5],
    ]);
    expect(await tensors.get("n")?.tolist()).toEqual([[1], [4]]);
  });

  test("more than a chunk comes back as it was", async () => {
    const x = randn([3 * 2 ** 20 + 7], { seed: 1 });
    await saveSafetensors(at("large.safetensors"), { first: ones([3]), x });
    const { tensors } = await loadSafetensors(at("large.safetensors"));
    expect(Buffer.compare(await tensors.get("x")!.bytes(), await x.bytes())).toBe(0);
  });

  test("the file is what other readers expect", async () => {
    await saveSafetensors(at("bytes.safetensors"), { b: tensor([true]), a: tensor([1]) });
    const file = readFileSync(at("bytes.safetensors"));
    const length = Number(file.readBigUInt64LE(0));
    expect(length % 8).toBe(0);
    expect(JSON.parse(file.subarray(8, 8 + length).toString())).toEqual({
      a: { dtype: "F32", shape: [1], data_offsets: [0, 4] },
      b: { dtype: "BOOL", shape: [1], data_offsets: [4, 5] },
    });
    expect([...file.subarray(8 + length)]).toEqual([0, 0, 0x80, 0x3f, 1]);
  });

  test("nothing at all can be saved", async () => {
    await saveSafetensors(at("nothing.safetensors"), {});
    const { tensors, metadata } = await loadSafetensors(at("nothing.safetensors"));
    expect([tensors.size, metadata]).toEqual([0, {}]);
  });

  test("dtype converts floats alone", async () => {
    await saveSafetensors(at("mixed.safetensors"), {
      x: ones([2]),
      ids: arange(2, { dtype: "int64" }),
    });
    const { tensors } = await loadSafetensors(at("mixed.safetensors"), { dtype: "bfloat16" });
    expect([tensors.get("x")?.dtype, tensors.get("ids")?.dtype]).toEqual(["bfloat16", "int64"]);
    expect(await tensors.get("x")?.tolist()).toEqual([1, 1]);
  });

  test("filter chooses by name and by what is stored", async () => {
    await saveSafetensors(at("many.safetensors"), {
      a: ones([2]),
      b: ones([3]),
      c: tensor([true]),
    });
    const seen: unknown[] = [];
    const { tensors } = await loadSafetensors(at("many.safetensors"), {
      filter: (name, info) => {
        seen.push([name, info]);
        return name === "b";
      },
    });
    expect([...tensors.keys()]).toEqual(["b"]);
    expect(seen).toContainEqual(["c", { dtype: "BOOL", shape: [1] }]);
  });

  test("dispose disposes all", async () => {
    await saveSafetensors(at("dispose.safetensors"), { a: ones([2]), b: ones([3]) });
    const model = await loadSafetensors(at("dispose.safetensors"));
    model.dispose();
    expect([...model.tensors.values()].every((x) => x.disposed)).toBe(true);
  });

  test("tensors may be disposed while they are saved", async () => {
    const x = arange(5);
    const saving = saveSafetensors(at("early.safetensors"), { x });
    x.dispose();
    await saving;
    const { tensors } = await loadSafetensors(at("early.safetensors"));
    expect(await tensors.get("x")?.tolist()).toEqual([0, 1, 2, 3, 4]);
  });

  test("saving replaces a file, and leaves nothing beside it", async () => {
    await saveSafetensors(at("twice.safetensors"), { x: ones([1]) });
    await saveSafetensors(at("twice.safetensors"), { y: ones([1]) });
    const { tensors } = await loadSafetensors(at("twice.safetensors"));
    expect([...tensors.keys()]).toEqual(["y"]);
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  });
});

const x = ones([1]);
const path = at("refused.safetensors");

const failures: Failure[] = [
  [
    "ERR_KIND loadSafetensors: expected path to be a string, got a URL",
    () => loadSafetensors(wrong(new URL("file:///x"))),
  ],
  [
    "ERR_FILE loadSafetensors: none.safetensors: cannot open it: ENOENT: no such file*",
    () => loadSafetensors(at("none.safetensors")),
  ],
  ["ERR_FILE loadSafetensors: warpwright-*: expected a file", () => loadSafetensors(folder)],
  [
    "ERR_DTYPE loadSafetensors: expected dtype float32, float16 or bfloat16, got int32",
    () => loadSafetensors(path, { dtype: wrong("int32") }),
  ],
  [
    "ERR_KIND loadSafetensors: expected filter to be a function, got a string",
    () => loadSafetensors(path, { filter: wrong("a") }),
  ],
  [
    'ERR_VALUE loadSafetensors: unknown option "filtr", the nearest known is "filter"',
    () => loadSafetensors(path, wrong({ filtr: null })),
  ],
  [
    "ERR_DEVICE loadSafetensors: cuda:999 is not available: *",
    () => loadSafetensors(path, { device: "cuda:999" }),
  ],
  [
    "ERR_KIND loadSafetensors: expected filter to return a boolean, got a promise",
    async () => {
      await saveSafetensors(at("filter.safetensors"), { x });
      await loadSafetensors(at("filter.safetensors"), { filter: wrong(async () => true) });
    },
  ],
  [
    "ERR_KIND saveSafetensors: expected path to be a string, got a number",
    () => saveSafetensors(wrong(1), {}),
  ],
  [
    "ERR_KIND saveSafetensors: expected tensors to be a Map or an object, got an array",
    () => saveSafetensors(path, wrong([x])),
  ],
  [
    "ERR_KIND saveSafetensors: expected tensors to be a Map or an object, got a Tensor",
    () => saveSafetensors(path, wrong(x)),
  ],
  [
    'ERR_KIND saveSafetensors: expected "a" to be a Tensor, got a number',
    () => saveSafetensors(path, { a: wrong(1) }),
  ],
  [
    "ERR_KIND saveSafetensors: expected names to be strings, got a number",
    () => saveSafetensors(path, new Map([[wrong(1), x]])),
  ],
  [
    'ERR_VALUE saveSafetensors: expected the name of a tensor, got "__metadata__"',
    () => saveSafetensors(path, { __metadata__: x }),
  ],
  [
    'ERR_VALUE saveSafetensors: expected the name of a tensor, got "\\ud800"',
    () => saveSafetensors(path, { "\ud800": x }),
  ],
  [
    'ERR_KIND saveSafetensors: expected metadata "a" to be a string, got a number',
    () => saveSafetensors(path, {}, { metadata: wrong({ a: 1 }) }),
  ],
  [
    "ERR_KIND saveSafetensors: expected metadata to be an object, got a string",
    () => saveSafetensors(path, {}, { metadata: wrong("a") }),
  ],
  [
    'ERR_DISPOSED saveSafetensors: "gone" has been disposed',
    () => {
      const gone: Tensor = ones([1]);
      gone.dispose();
      return saveSafetensors(path, { gone });
    },
  ],
  [
    "ERR_FILE saveSafetensors: such.safetensors: cannot write it: ENOENT: no such file*",
    () => saveSafetensors(at("no/such.safetensors"), { x }),
  ],
  [
    "ERR_FILE saveSafetensors: x.safetensors: cannot write it: ENOTDIR*",
    async () => {
      writeFileSync(at("plain"), "");
      await saveSafetensors(at("plain/x.safetensors"), { x });
    },
  ],
  ["ERR_FILE saveSafetensors: warpwright-*: expected a file", () => saveSafetensors(folder, { x })],
];

test.each(failures)("%s", async (...failure) => {
  await expectFailure(...failure);
  expect(readdirSync(folder)).not.toContain("refused.safetensors");
});
