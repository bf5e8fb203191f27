// node plant-fault.mjs N: commits fault N of csrc/faults.h, for compute-sanitizer to find.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const native = require("./prebuilds/linux-x64/headers-test.node");
try {
  native.plantFault(Number(process.argv[2]));
} catch (error) {
  console.log(error.message); // a tool that stops the kernel makes the call fail
}
