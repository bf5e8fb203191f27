import { testLayouts } from "../../../tooling/elementwise-suites/src/index.js";
import { clamped, plain } from "./operations.js";

testLayouts(plain);
testLayouts(clamped);
