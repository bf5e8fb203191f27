import { inspect } from "node:util";
import { expect, test } from "vitest";
import { arange, ones, type Tensor, tensor, tidy, zeros } from "../src/index.js";

test.each<[string, () => Tensor]>([
  ["Tensor(bfloat16, [2, 3], cpu) [1, 1, 1, 1, 1, 1]", () => ones([2, 3], { dtype: "bfloat16" })],
  ["Tensor(float32, [8], cpu) [0, 1, 2, 3, 4, 5, ...]", () => arange(8)],
  ["Tensor(float32, [3, 2], cpu) [0, 3, 1, 4, 2, 5]", () => arange(6).view(2, 3).transpose()],
  ["Tensor(float32, [], cpu) [0.1]", () => tensor(0.1)],
  ["Tensor(float32, [3], cpu) [NaN, Infinity, 1e+30]", () => tensor([NaN, Infinity, 1e30])],
  ["Tensor(bool, [2], cpu) [true, false]", () => tensor([true, false])],
  ["Tensor(int64, [1], cpu) [-5]", () => tensor([-5n])],
  ["Tensor(float32, [0, 2], cpu) []", () => zeros([0, 2])],
  [
    "Tensor(float32, [1099511627776], cpu) [1, 1, 1, 1, 1, 1, ...]",
    () => ones([1]).expand(2 ** 40),
  ],
])("%s", (text, make) => {
  expect(inspect(make())).toBe(text);
  expect(inspect({ x: make() })).toContain(text);
});

test("a template string has no values, which would have to be read back", () => {
  const x = ones([2, 3], { dtype: "bfloat16" });
  expect(`${x}`).toBe("Tensor(bfloat16, [2, 3], cpu)");
  x.dispose();
  expect(String(x)).toBe("Tensor(bfloat16, [2, 3], cpu, disposed)");
});

test("a disposed tensor says so", () => {
  const x = ones([2]);
  x.dispose();
  expect(inspect(x)).toBe("Tensor(float32, [2], cpu, disposed)");
});

test("inspecting inside tidy leaves nothing behind", () => {
  const x = ones([2]);
  expect(tidy(() => inspect(x))).toBe("Tensor(float32, [2], cpu) [1, 1]");
  expect(x.disposed).toBe(false);
});
