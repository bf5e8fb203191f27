import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["golden", "geglu", "layouts", "cases", "sanitized", "forged"],
  values: ["geglu"],
});
