// How programs end on the CPU.
import { describeEndings } from "./endings.js";

describeEndings("cpu");
