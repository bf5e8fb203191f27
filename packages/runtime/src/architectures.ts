import { readFileSync } from "node:fs";
import { platformName } from "./addon-names.js";
import { listOf } from "./describe.js";

const lowestMajor = 8;

let architectures: readonly string[] | undefined;

/**
 * The architectures that the runtime's addon holds code for, as its build names them: "90a-real",
 * "80-virtual". Empty where its build left no record.
 */
export function readArchitectures(): readonly string[] {
  architectures ??= fromBuildInfo();
  return architectures;
}

function fromBuildInfo(): readonly string[] {
  try {
    const url = new URL(`../prebuilds/${platformName()}/build-info.json`, import.meta.url);
    const { archs } = JSON.parse(readFileSync(url, "utf8")) as { archs?: unknown };
    return Array.isArray(archs) ? archs.filter((arch) => typeof arch === "string") : [];
  } catch {
    return [];
  }
}

/** Why code for these architectures does not run at a compute capability; null if it does. */
export function builtFor(archs: readonly string[], major: number, minor: number): string | null {
  if (major < lowestMajor) {
    return `compute capability ${lowestMajor}.0 or later is needed, this is ${major}.${minor}`;
  }
  if (archs.length === 0 || archs.some((arch) => runsAt(arch, major, minor))) return null;
  return `this build has code for ${listOf(archs, "and")}, not for ${major}.${minor}`;
}

// Machine code runs from its own minor version on within a major one, an "a" variant at exactly its
// version; PTX ("virtual", or a plain number, which holds both) runs at any later version.
function runsAt(arch: string, major: number, minor: number): boolean {
  const [, digits = "", variant = "", kind] = /^(\d+)([af]?)(?:-(real|virtual))?$/.exec(arch) ?? [];
  const [archMajor, archMinor] = [Number(digits.slice(0, -1)), Number(digits.slice(-1))];
  if (digits === "") return false;
  if (variant === "a") return major === archMajor && minor === archMinor;
  if (major === archMajor && minor >= archMinor) return true;
  return variant === "" && kind !== "real" && major > archMajor;
}
