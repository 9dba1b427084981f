import { writeFileSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Closes a run with the one plain line that any CI can read: `N passed, N failed`.
 * A module that could not even be collected counts as a failure, and so does a skip
 * under DRUMS_MUST_WORK=1: neither may hide behind a green total. With DRUMS_TOTAL_FILE the line is written there too.
 */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    const mustWork = process.env.DRUMS_MUST_WORK === "1";
    const failed = count.failed + count.pending + (mustWork ? count.skipped : 0);
    if (mustWork && count.skipped > 0) {
      process.exitCode = 1;
      process.stdout.write(`${count.skipped} skipped: with DRUMS_MUST_WORK=1 these are failures\n`);
    }
    const skipped = mustWork || count.skipped === 0 ? "" : `, ${count.skipped} skipped`;
    const total = `${count.passed} passed, ${failed} failed`;
    if (process.env.DRUMS_TOTAL_FILE) writeFileSync(process.env.DRUMS_TOTAL_FILE, `${total}\n`);
    process.stdout.write(`${total}${skipped}\n`);
  }
}
