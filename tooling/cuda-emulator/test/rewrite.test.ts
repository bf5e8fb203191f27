// The forms of __shared__ declarations that the rewriting knows, as text.
import { expect, test } from "vitest";
import { rewriteShared } from "../scripts/rewrite.mjs";

const rewrite = (body: string) =>
  rewriteShared(`void kernel() {\n${body}\n}\n`, "kernel.cu")
    .replace(/^void kernel\(\) \{\n/, "")
    .replace(/\n\}\n$/, "");

const reference = (id: number, name: string, alignment = "") =>
  `static const char ww_key_${id} = 0; ` +
  `auto& ${name} = ::cudaemu::shared_ref<ww_type_${id}${alignment}>(&ww_key_${id}, "${name}")`;

test.each([
  [
    "an array of two dimensions",
    "__shared__ float sums[2][kWarps];",
    `typedef float ww_type_1[2][kWarps]; ${reference(1, "sums")};`,
  ],
  ["one value", "__shared__ int count;", `typedef int ww_type_1; ${reference(1, "count")};`],
  [
    "a template type with commas",
    "__shared__ Pair<int, Array<float, 4>> pairs[8];",
    `typedef Pair<int, Array<float, 4>> ww_type_1[8]; ${reference(1, "pairs")};`,
  ],
  [
    "an alignment and static",
    "static __shared__ alignas(16) unsigned char bytes[64];",
    `typedef unsigned char ww_type_1[64]; ${reference(1, "bytes", ", (16)")};`,
  ],
  [
    "several declarators",
    "__shared__ float a[3], b;",
    `typedef float ww_type_1[3], ww_type_2; ${reference(1, "a")}; ${reference(2, "b")};`,
  ],
  [
    "a struct without a name",
    "__shared__ struct { int key; float value; } best;",
    `typedef struct { int key; float value; } ww_type_1; ${reference(1, "best")};`,
  ],
  [
    "dynamic shared memory",
    "extern __shared__ alignas(16) unsigned char smem[];",
    "typedef unsigned char ww_type_1[]; auto& smem = ::cudaemu::dynamic_shared_ref<ww_type_1>();",
  ],
])("%s", (_, declaration, wanted) => expect(rewrite(declaration)).toBe(wanted));

test("lines keep their numbers", () => {
  const text = "void f() {\n  __shared__ float\n      x[3];\n  x[0] = 1;\n}\n";
  expect(rewriteShared(text, "f.cu").split("\n")[3]).toBe("  x[0] = 1;");
});

test("strings are left alone", () => {
  const text = 'void f() { print("a __shared__ b;"); }';
  expect(rewriteShared(text, "f.cu")).toBe(text);
});

test.each([
  ["__shared__ float x;", "variables outside of functions are not supported by the emulator"],
  ["namespace a { __shared__ float x; }", "variables outside of functions are not supported"],
  ["void f() { __shared__ float x = 1; }", "a variable with an initialiser"],
])("%s is refused by name", (text, message) => {
  expect(() => rewriteShared(text, "f.cu")).toThrow(`f.cu: __shared__: ${message}`);
});
