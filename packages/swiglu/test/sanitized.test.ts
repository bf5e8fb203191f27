import { testSanitized } from "../../../tooling/elementwise-suites/src/index.js";
import { clamped, plain } from "./operations.js";

testSanitized(plain);
testSanitized(clamped);
