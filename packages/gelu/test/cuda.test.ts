import {
  testFarRows,
  testStreams,
  testTwoGpus,
} from "../../../tooling/elementwise-suites/src/index.js";
import { operations } from "./operations.js";

testFarRows(operations[0]!, [
  { name: "GE-09", rows: 300_000, width: 14_336, forms: ["gelu"] },
  { name: "GE-09: odd rows", rows: 530_001, width: 4095, forms: ["gelu"] },
]);
for (const operation of operations) testStreams(operation);
testTwoGpus(operations[0]!, "GL-10");
