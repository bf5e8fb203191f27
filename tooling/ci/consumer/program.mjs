import { strict as assert } from "node:assert";
import { rmsnorm } from "@warpwright/rmsnorm";
import { tensor } from "@warpwright/runtime";

const [a, b] = rmsnorm(tensor([[3, 4]]), null, { eps: 0 }).dataSync();
assert.ok(Math.abs(a - 3 / Math.sqrt(12.5)) < 1e-6 && Math.abs(b - 4 / Math.sqrt(12.5)) < 1e-6);
