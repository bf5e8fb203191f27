import { testOptionErrors } from "@warpwright/testing/vitest";
import { callees, moduleCallee } from "./callees.js";

testOptionErrors([...callees, moduleCallee]);
