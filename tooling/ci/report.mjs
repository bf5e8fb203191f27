// Counts what passed and failed, shows how long each part took, and prints the closing line.
import { spawn } from "node:child_process";
import { repoRoot } from "../scripts/lib.mjs";

export class Report {
  #passed = 0;
  #failures = [];
  #times = [];

  async part(name, run) {
    console.log(`\n=== ${name}`);
    const start = performance.now();
    try {
      await run();
    } catch (error) {
      this.#fail(name, error);
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    this.#times.push(`${seconds.padStart(8)} s  ${name}`);
    console.log(`=== ${name}: ${seconds} s`);
  }

  /** One check: passes unless it throws. Returns its value, or undefined if it failed. */
  async check(name, run) {
    try {
      const value = await run();
      this.#passed += 1;
      console.log(`ok      ${name}`);
      return value;
    } catch (error) {
      this.#fail(name, error);
      return undefined;
    }
  }

  /** One check: a program that must exit with 0, its output shown as it comes. */
  command(name, program, args) {
    return this.check(name, async () => {
      const { code } = await runProgram(program, args, { show: true });
      if (code !== 0) throw new Error(`exit code ${code}`);
    });
  }

  /** A test run: counts its tests, by the summary that vitest prints for each package. */
  async tests(name, program, args, options) {
    const { code, output } = await runProgram(program, args, { ...options, show: true });
    const { passed, failed } = countTests(output);
    this.#passed += passed;
    for (let i = 0; i < failed; ++i) this.#failures.push(name);
    if (passed + failed === 0) this.#fail(name, new Error("no test was run"));
    else if (code !== 0 && failed === 0) this.#fail(name, new Error(`exit code ${code}`));
  }

  /** Prints the summary; true if all is well. */
  close() {
    console.log(`\n${this.#times.join("\n")}\n`);
    for (const failure of new Set(this.#failures)) console.log(`failed: ${failure}`);
    console.log(`${this.#passed} passed, ${this.#failures.length} failed`);
    return this.#failures.length === 0;
  }

  #fail(name, error) {
    this.#failures.push(name);
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}

/**
 * Lines such as "Tests  1 failed | 20 passed | 3 skipped (24)", behind turbo's prefix and colours.
 */
export function countTests(output) {
  const counts = { passed: 0, failed: 0 };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colours begin with one
  for (const line of output.replace(/\u001b\[[\d;]*m/g, "").split("\n")) {
    const summary = /^(?:\S+: )? *Tests {2}(.* \(\d+\))/.exec(line)?.[1] ?? "";
    for (const [, count, kind] of summary.matchAll(/(\d+) (passed|failed)/g)) {
      counts[kind] += Number(count);
    }
  }
  return counts;
}

/** Resolves with the exit code and all output, which is also shown if asked. */
export function runProgram(
  program,
  args,
  { cwd = repoRoot, env = process.env, show = false } = {},
) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const chunks = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        chunks.push(chunk);
        if (show) process.stdout.write(chunk);
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString() }));
  });
}

/** The output of a program that must succeed; all of it is in the error if it does not. */
export async function output(program, args, options) {
  const result = await runProgram(program, args, options);
  if (result.code !== 0) throw new Error(`exit code ${result.code}\n${result.output}`);
  return result.output;
}
