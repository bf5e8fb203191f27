import { testOverlaps } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

testOverlaps(callees);
