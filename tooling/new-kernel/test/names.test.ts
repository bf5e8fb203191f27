import { describe, expect, test } from "vitest";
import { checkName, renamed, spellingsOf } from "../names.mjs";

describe("names", () => {
  test.each(["relu", "rmsnorm-rht-amax", "conv2d", "layer-norm-2d"])("%s is one", (name) => {
    expect(() => checkName(name)).not.toThrow();
  });

  test.each([
    ...["", "Relu", "re_lu", "re lu", "-relu", "relu-", "re--lu", "2d-conv", "../relu", "relu\n"],
    ...[undefined, null, 3, "x".repeat(41)],
  ])("%j is none", (name) => {
    expect(() => checkName(name)).toThrow(
      "expected a name of lower-case words with hyphens between them, at most 40 characters, got",
    );
  });

  test.each(["switch", "template", "float", "native"])("%s is a word already", (name) => {
    expect(() => checkName(name)).toThrow(`${name} is a word of JavaScript's or C++'s`);
  });

  test("each language has its spelling", () => {
    expect(spellingsOf("rmsnorm-rht-amax")).toEqual({
      kebab: "rmsnorm-rht-amax",
      snake: "rmsnorm_rht_amax",
      camel: "rmsnormRhtAmax",
      pascal: "RmsnormRhtAmax",
    });
  });

  test("text takes the name in all of them", () => {
    const text =
      "@warpwright/new-kernel new_kernel_fwd launch_new_kernel newKernelPair NewKernelParams";
    expect(renamed(text, "soft-cap")).toBe(
      "@warpwright/soft-cap soft_cap_fwd launch_soft_cap softCapPair SoftCapParams",
    );
    expect(renamed(text, "relu")).toBe("@warpwright/relu relu_fwd launch_relu reluPair ReluParams");
  });
});
