import { testLayouts } from "@warpwright/testing/vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { instances, someInstances } from "./callees.js";

// Less than a vector, whole vectors, a tail, and rows of several tiles, of which the wider ones are
// for a GPU.
const sizes = isEmulated ? [1, 5, 8, 63, 640, 644] : [1, 5, 8, 63, 640, 4096, 4100];

// What lies where is the operands' business, whatever is computed of them: each comes up once.
const callees = isEmulated ? someInstances : instances;

testLayouts(callees, { sizes });
