import { testLayouts } from "@warpwright/testing/vitest";
import { placements } from "./callees.js";

testLayouts(placements);
