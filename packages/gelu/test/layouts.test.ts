import { testLayouts } from "../../../tooling/elementwise-suites/src/index.js";
import { operations } from "./operations.js";

for (const operation of operations) testLayouts(operation);
