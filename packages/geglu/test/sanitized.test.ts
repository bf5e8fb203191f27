import { testSanitized } from "../../../tooling/elementwise-suites/src/index.js";
import { operations } from "./operations.js";

for (const operation of operations) testSanitized(operation);
