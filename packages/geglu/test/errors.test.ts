import { testOptionErrors, testOverlaps, testTensorErrors } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

testTensorErrors(callees);
testOptionErrors(callees);
testOverlaps(callees);
