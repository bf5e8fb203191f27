import { describeLibc } from "../libc.js";
import type { PackageState, Report } from "./doctor.js";

const gibibyte = 2 ** 30;

/** The report for people. */
export function reportText(report: Report): string {
  const { node, platform, cuda, packages, problems } = report;
  const libc = describeLibc(report.libc);
  const driver = cuda.driver ?? (cuda.driverCuda === null ? "none" : "of unknown version");
  const knows = cuda.driverCuda === null ? "" : `, up to CUDA ${cuda.driverCuda}`;
  const devices = cuda.devices.map(
    ({ device, name, computeCapability, totalMemory }) =>
      `${device}: ${name}, compute capability ${computeCapability}, ` +
      `${(totalMemory / gibibyte).toFixed(1)} GiB`,
  );
  const lines = [
    `Node.js ${node} on ${platform}${libc === "" ? "" : `, ${libc}`}`,
    `NVIDIA driver: ${driver}${knows}`,
    ...devices,
    cuda.explanation,
    ...packages.flatMap((each) => ["", ...packageLines(each)]),
    "",
    ...(problems.length === 0 ? ["no problems"] : []),
    ...problems.flatMap(({ problem, remedy }, i) => [`${i + 1}. ${problem}`, `   ${remedy}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function packageLines({ name, version, folder, addon, devices }: PackageState): string[] {
  const lines = [`${name} ${version}`, `  ${folder}`];
  if (addon === null) return lines;
  const { path, failure, buildInfo } = addon;
  lines.push(failure === null ? `  ${path} loads` : `  does not load: ${failure.reason}`);
  if (buildInfo !== null) {
    const { cuda, nvcc, archs } = buildInfo;
    const built = cuda ? `with CUDA ${nvcc} for ${archs.join(", ")}` : "without CUDA";
    lines.push(`  built ${built}`);
  }
  const fits = Object.entries(devices);
  return [
    ...lines,
    ...fits.map(([device, reason]) => `  ${device}: ${reason ?? "has code for it"}`),
  ];
}
