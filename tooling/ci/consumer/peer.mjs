// Whether a package finds its runtime, which pnpm puts where the program itself does not see it.
import { strict as assert } from "node:assert";
import { realpathSync } from "node:fs";
import { createRequire } from "node:module";

const [name, seen] = process.argv.slice(2);
const program = createRequire(import.meta.url);
const kernel = createRequire(realpathSync(program.resolve(name)));
assert.equal(typeof kernel("@warpwright/runtime").tensor, "function");
const visible = () => program.resolve("@warpwright/runtime");
if (seen === "visible") assert.equal(visible(), kernel.resolve("@warpwright/runtime"));
else assert.throws(visible, { code: "MODULE_NOT_FOUND" });
