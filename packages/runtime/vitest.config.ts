import { presetWith } from "../../tooling/vitest/preset.js";

export default presetWith({ emulated: ["cuda*", "file-loading", "stress"] });
