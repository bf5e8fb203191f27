import { testLayouts } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

testLayouts(functions, { sumsByAlignment: true });
