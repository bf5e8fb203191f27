import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "gelu", "layouts", "cases", "sanitized", "forged"],
  values: ["gelu"],
});
