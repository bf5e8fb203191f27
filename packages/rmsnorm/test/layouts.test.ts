import { testLayouts } from "@warpwright/testing/vitest";
import { isEmulated } from "../../../tooling/vitest/emulated.js";
import { functions } from "./callees.js";

// On the emulator rows of half a warp, a warp and a block; a cluster's are the sanitized suite's.
const sizes = isEmulated ? { sizes: [1, 8, 63, 769, 4095] } : {};

testLayouts(functions, { ...sizes, sumsByAlignment: true });
