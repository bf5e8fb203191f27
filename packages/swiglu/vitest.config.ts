import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["swiglu", "layouts", "cases", "sanitized", "forged"],
  values: ["swiglu"],
});
