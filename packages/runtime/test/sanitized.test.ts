// The subset that runs under compute-sanitizer: all that moves memory on the GPU. Calls that CUDA
// refuses, which are cuda-errors.test.ts's, would be errors to it.
import "./cuda.test.js";
import "./cuda-randn.test.js";
import "./cuda-streams.test.js";
import "./cuda-events.test.js";

// initcheck looks at what a copy in a graph reads before the graph's kernels have written it.
if (process.env["WARPWRIGHT_SANITIZE"] !== "initcheck") await import("./cuda-graphs.test.js");
