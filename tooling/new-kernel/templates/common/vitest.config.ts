import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["new-kernel", "layouts", "forged", "sanitized"],
});
