// npm run new-kernel -- <name> --kind elementwise|gated|row-wise
// Makes packages/<name>: a kernel that builds and passes, to put another formula into. Whatever is
// wrong is found before anything is written.
import fs from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { Failure, repoRoot, runMain } from "../scripts/lib.mjs";
import { planKernel } from "./plan.mjs";

/** Words of each kind's formula, all of which go with it. */
const formulaWords = {
  elementwise: "beta|swish|sigmoid|silu",
  gated: "sigmoid",
  "row-wise": "eps|inverse|norm|l2",
};

runMain(() => {
  const { values, positionals } = parseArgs({
    options: { kind: { type: "string" }, root: { type: "string", default: repoRoot } },
    allowPositionals: true,
  });
  if (positionals.length !== 1) {
    throw new Failure(`expected one name, got ${positionals.length === 0 ? "none" : positionals}`);
  }
  const [name] = positionals;
  const files = planKernel(values.root, name, values.kind);
  for (const [file, text] of files) {
    fs.mkdirSync(path.dirname(path.join(values.root, file)), { recursive: true });
    fs.writeFileSync(path.join(values.root, file), text);
  }
  console.log([...files.keys()].sort().join("\n"));
  console.log(`
packages/${name} builds and passes as it is. From there, as CONTRIBUTING.md has it in full:
  the formula and its tests in test/reference.ts and test/${name}.test.ts, csrc/, src/index.ts,
  then  npm test -- packages/${name}
  and   npm run test:emulated -- packages/${name}
What is left of the formula that it came with:
  grep -rniE "${formulaWords[values.kind]}" packages/${name}/{csrc,src,test,bench}`);
});
