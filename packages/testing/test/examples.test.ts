import { testExamples } from "../../../tooling/vitest/examples.js";

testExamples(new URL("..", import.meta.url), {
  packages: {
    "@warpwright/geglu": new URL("../../geglu/", import.meta.url),
    "@warpwright/rmsnorm": new URL("../../rmsnorm/", import.meta.url),
  },
});
