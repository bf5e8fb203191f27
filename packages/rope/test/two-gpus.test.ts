import { testTwoGpus } from "@warpwright/testing/vitest";
import { functions } from "./callees.js";

testTwoGpus(functions, {
  root: new URL("..", import.meta.url),
  imports: `
    import { rope, ropeTables } from "@warpwright/rope";
    const { cos, sin } = ropeTables({ dim: 2048, maxPositions: 1, device: "cuda:1" });
    const layout = "thd";`,
  expression: "rope(x.unsqueeze(0), cos, sin, { layout, out: x.unsqueeze(0) }).select(0, 0)",
});
