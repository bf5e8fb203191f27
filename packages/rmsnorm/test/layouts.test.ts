import { testLayouts } from "@warpwright/testing/vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { functions } from "./callees.js";

// Rows of half a warp, a warp and a block; those of clusters lie in every way in the sanitized suite.
const sizes = isEmulated ? { sizes: [1, 8, 63, 769, 4095] } : {};

testLayouts(functions, { ...sizes, sumsByAlignment: true });
