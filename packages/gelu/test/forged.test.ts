import { testForged } from "../../../tooling/elementwise-suites/src/index.js";
import { native } from "../src/native.js";

testForged({ op: "gelu", call: native().geluFwd, operands: 1, scalars: [0] });
