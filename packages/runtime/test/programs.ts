// Programs of their own, for what would take the suite's process down, or stay with it.
import { spawnSync } from "node:child_process";
import type { Installed } from "./installed.js";

/** How a program ended. */
export interface Ending {
  stdout: string;
  stderr: string;
  /** The exit code; null if a signal ended it. */
  status: number | null;
  signal: NodeJS.Signals | null;
}

// What a program needs to find the device that the suite runs on.
const passedOn =
  /^(PATH|LD_PRELOAD|LD_LIBRARY_PATH|ASAN_OPTIONS|CUDA_VISIBLE_DEVICES|WARPWRIGHT_.*)$/;

// For what would otherwise hang for ever; far from what any program here takes.
const timeout = 150_000;

/** What a test with a long program passes to vitest, so that the program's limit comes first. */
export const longTest = { timeout: timeout + 10_000 };

/** Runs a module of the folder's user, with the package there as `ww`, on the suite's device. */
export function runProgram(
  { folder }: Installed,
  source: string,
  { env = {}, flags = [] }: { env?: Record<string, string>; flags?: string[] } = {},
): Ending {
  const inherited = Object.entries(process.env).filter(([name]) => passedOn.test(name));
  const code = `const ww = await import("@warpwright/runtime");\n${source}`;
  const { stdout, stderr, status, signal, error } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module", "-e", code],
    { cwd: folder, encoding: "utf8", timeout, env: { ...Object.fromEntries(inherited), ...env } },
  );
  if (error !== undefined) throw error;
  return { stdout, stderr, status, signal };
}

/** What the program printed as JSON; it must have ended well and said nothing else. */
export function resultOf<T>({ stdout, stderr, status, signal }: Ending): T {
  if (status !== 0 || stderr !== "")
    throw new Error(`exit ${status} ${signal}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}
