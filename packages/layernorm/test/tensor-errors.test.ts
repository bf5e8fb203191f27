import { testTensorErrors } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

testTensorErrors(callees);
