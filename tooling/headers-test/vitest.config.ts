import { presetWith } from "../vitest/preset.js";

export default presetWith({ emulated: ["conversions", "device", "handles", "launch", "ptx"] });
