import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "cases", "attention", "merge", "layouts", "random", "sanitized", "forged"],
});
