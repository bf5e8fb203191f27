import {
  testFarRows,
  testStreams,
  testTwoGpus,
} from "../../../tooling/elementwise-suites/src/index.js";
import { clamped, plain } from "./operations.js";

const packed = ["gate first", "gate last", "in turns"];

testFarRows(plain, [
  { name: "GL-01", rows: 74_907, width: 14_336, forms: packed },
  { name: "GL-01: wider rows", rows: 61_690, width: 17_408, forms: packed },
  { name: "GL-01: flat", rows: 2 ** 20 + 1, width: 2048, forms: ["a pair"] },
  { name: "GE-09: beyond 2^32", rows: 149_911, width: 14_336, forms: ["gate first"] },
  { name: "misaligned rows", rows: 530_001, width: 4095, forms: ["gate first", "in turns"] },
]);
testStreams(plain);
testStreams(clamped);
testTwoGpus(plain, "GL-10");
