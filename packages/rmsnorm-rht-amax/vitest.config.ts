import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "layouts", "cases", "row-cases", "cudnn", "module", "sanitized", "forged"],
});
