// Memory over time on the CPU.
import { describeLeaks } from "./leaks.js";

describeLeaks("cpu");
