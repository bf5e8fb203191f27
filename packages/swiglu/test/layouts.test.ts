import { testLayouts } from "@warpwright/testing/vitest";
import { instances } from "./callees.js";

// Less than a vector, whole vectors, a tail, and rows of several tiles.
testLayouts(instances, { sizes: [1, 5, 8, 63, 640, 4096, 4100] });
