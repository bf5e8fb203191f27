// Worker threads on the CPU.
import { describeWorkers } from "./workers.js";

describeWorkers("cpu");
