import { testExamples } from "../../../tooling/vitest/examples.js";

testExamples(new URL("..", import.meta.url));
