// Memory over time on a GPU.
import { describe } from "vitest";
import { explain, isAvailable } from "../src/index.js";
import { describeLeaks } from "./leaks.js";

const missing = isAvailable("cuda") ? "" : `: skipped, ${explain()}`;

describe.skipIf(!isAvailable("cuda"))(`cuda${missing}`, () => {
  describeLeaks("cuda:0");
});
