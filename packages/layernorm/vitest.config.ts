import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "layouts", "cases", "row-cases", "module", "sanitized", "forged"],
  values: ["cases"],
});
