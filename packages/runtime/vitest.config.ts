import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({ emulated: ["cuda", "cuda-streams", "cuda-errors", "cuda-copies", "cuda-events", "cuda-graphs", "cuda-memory"] });
