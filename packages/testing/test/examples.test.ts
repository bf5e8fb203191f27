import { testExamples } from "../../../tooling/vitest/examples.js";

testExamples(new URL("..", import.meta.url), {
  packages: { "@warpwright/rmsnorm": new URL("../../rmsnorm/", import.meta.url) },
});
