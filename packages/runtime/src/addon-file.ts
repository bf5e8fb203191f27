import { closeSync, fstatSync, openSync, readSync } from "node:fs";

// e_machine of an ELF file, by the names that Node has for processors.
const machines: Readonly<Record<number, string>> = {
  3: "ia32",
  40: "arm",
  62: "x64",
  183: "arm64",
};

/**
 * Loads an addon. Looks at the file first: what the loader of a system says of a file for another
 * processor misleads, and one that is cut off would end the process.
 */
export function openAddon(path: string): unknown {
  const problem = whyNoAddon(path);
  if (problem !== null) throw new Error(problem);
  // Webpack would replace an imported createRequire by one of its own, which knows no addons.
  return process.getBuiltinModule("node:module").createRequire(path)(path);
}

/** Why the file cannot be an addon of this process; null if it may be one. */
export function whyNoAddon(path: string): string | null {
  const start = Buffer.alloc(64);
  let size: number;
  try {
    const file = openSync(path, "r");
    try {
      size = fstatSync(file).size;
      readSync(file, start);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? `${path} is missing` : `${path} cannot be read: ${message}`;
  }
  if (process.platform !== "linux") return null;
  const problem = elfProblem(start, size);
  return problem === null ? null : `${path} ${problem}`;
}

/** Offsets as the 64-bit little-endian ELF header has them. */
function elfProblem(header: Buffer, size: number): string | null {
  if (size < header.length) return `is cut off: it has ${size} bytes`;
  if (header.toString("latin1", 0, 4) !== "\u007fELF") return "is no addon for Linux";
  const machine = header.readUInt16LE(18);
  const built = machines[machine] ?? `processor ${machine}`;
  if (built !== process.arch) return `is for ${built}, this is ${process.arch}`;
  const sections = Number(header.readBigUInt64LE(40));
  const whole = sections + header.readUInt16LE(58) * header.readUInt16LE(60);
  return size < whole ? `is cut off: it has ${size} of ${whole} bytes` : null;
}
