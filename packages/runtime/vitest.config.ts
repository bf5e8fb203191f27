import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({
  emulated: ["cuda", "cuda-streams", "cuda-errors", "cuda-copies", "file-loading"],
});
