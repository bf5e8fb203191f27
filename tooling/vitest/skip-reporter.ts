// Prints what was skipped, one line a suite, with the reason that the test gave.
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

export class SkipReporter implements Reporter {
  #filtered = false;

  /** Under -t, what the pattern leaves out counts as skipped too, and is no news. */
  onInit(vitest: Vitest): void {
    this.#filtered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#filtered) return;
    const counts = new Map<string, number>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const line = `${module.relativeModuleId} > ${suiteOf(test)}${reasonOf(test)}`;
        counts.set(line, (counts.get(line) ?? 0) + 1);
      }
    }
    for (const [line, count] of counts) console.log(`  skipped ${count}: ${line}`);
    if (counts.size > 0) console.log("");
  }
}

function suiteOf(test: TestCase): string {
  return test.parent.type === "suite" ? test.parent.fullName : test.name;
}

function reasonOf(test: TestCase): string {
  const result = test.result();
  return result.state === "skipped" && result.note ? ` (${result.note})` : "";
}
