// How programs end that work on a GPU.
import { describe } from "vitest";
import { explain, isAvailable } from "../src/index.js";
import { describeEndings } from "./endings.js";

const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describeEndings("cuda:0");
});
