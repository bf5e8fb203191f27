import { testLayouts } from "@warpwright/testing/vitest";
import { callees } from "./callees.js";

testLayouts(callees, { sumsByAlignment: true });
