import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "rope", "layouts", "cases", "random", "sanitized", "forged"],
});
