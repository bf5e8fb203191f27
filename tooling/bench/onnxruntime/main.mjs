// node tooling/bench/onnxruntime/main.mjs [--only NAME] [--seconds 5] [--json FILE]
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { setNumThreads } from "../../../packages/runtime/dist/index.js";
import { machineOf } from "../../../packages/testing/dist/index.js";
import { cases } from "./cases.mjs";
import { measure } from "./measure.mjs";

const threads = 2;
/** float32 is the one that onnxruntime is given too. */
const dtypes = ["float32", "float16", "bfloat16"];

const headings = "case,ours ms,median,onnxruntime ms,median,ratio,speed,copy,of copy,f16,bf16";

/** Speeds and ratios of the fastest windows, which other programs disturb the least. */
function summary(of, { ours, onnxruntime, copy }) {
  const mine = ours.float32;
  const speed = of.flops !== undefined && of.flops > 10 * of.bytes ? of.flops : of.bytes;
  return {
    ratio: onnxruntime.min / mine.min,
    speed: speed / mine.min / 1e6,
    unit: speed === of.bytes ? "GB/s" : "GFLOP/s",
    copySpeed: of.bytes / copy.min / 1e6,
    ofCopy: copy.min / mine.min,
    float16: mine.min / ours.float16.min,
    bfloat16: mine.min / ours.bfloat16.min,
  };
}

function cells(of, { ours, onnxruntime, ...all }) {
  const found = summary(of, { ours, onnxruntime, ...all });
  const { ratio, speed, unit, copySpeed, ofCopy, float16, bfloat16 } = found;
  const times = [ours.float32, onnxruntime].flatMap(({ min, median }) => [min, median]);
  return [
    of.name,
    ...times.map((ms) => ms.toFixed(3)),
    ratio.toFixed(2),
    `${speed.toFixed(1)} ${unit}`,
    copySpeed.toFixed(1),
    ...[ofCopy, float16, bfloat16].map((share) => share.toFixed(2)),
  ];
}

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "5" },
    json: { type: "string" },
  },
});
setNumThreads(threads);
const { device, commit, date } = machineOf("cpu");
const { version } = createRequire(import.meta.url)("onnxruntime-node/package.json");
console.log(`${device} | ${threads} threads | onnxruntime ${version} | ${commit} | ${date}`);
console.log(
  `| ${headings.replaceAll(",", " | ")} |\n|${"---|".repeat(headings.split(",").length)}`,
);
const results = [];
for (const of of cases) {
  if (!of.name.includes(values.only)) continue;
  const times = await measure(of, { dtypes, seconds: Number(values.seconds) });
  console.log(`| ${cells(of, times).join(" | ")} |`);
  results.push({ name: of.name, bytes: of.bytes, flops: of.flops, ...times });
}
if (values.json) {
  const report = { device, threads, onnxruntime: version, commit, date, results };
  writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
}
