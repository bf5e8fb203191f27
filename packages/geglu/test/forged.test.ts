import { testForged } from "../../../tooling/elementwise-suites/src/index.js";
import { native } from "../src/native.js";

testForged({ op: "geglu", call: native().gegluFwd, operands: 2, scalars: [0] });
