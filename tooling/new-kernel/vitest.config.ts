import { preset } from "../vitest/preset.js";

export default preset;
