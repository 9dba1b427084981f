// How the guest's runner tells of its tests: a line for each, a failure with its error, and the plain total last.
import { writeFileSync } from "node:fs";
import { inspect } from "node:util";

export default async function* report(events) {
  const count = { passed: 0, failed: 0 };
  for await (const { type, data } of events) {
    if (type === "test:start" && data.nesting === 0) yield `${data.name}\n`;
    if (type !== "test:pass" && type !== "test:fail") continue;
    const failed = type === "test:fail";
    if (data.details.type === "suite") {
      // A file that cannot be loaded has no test that could fail.
      const broken = failed && data.details.error.failureType !== "subtestsFailed";
      if (broken) yield `  ✗ ${errorText(data)}`;
      if (broken) count.failed += 1;
      continue;
    }
    // The guest is there for what it runs: a skip is a failure, as with DRUMS_MUST_WORK=1 on the host.
    const passed = !failed && data.skip === undefined;
    count[passed ? "passed" : "failed"] += 1;
    yield `  ${passed ? "✓" : "✗"} ${data.name} (${Math.round(data.details.duration_ms)} ms)\n`;
    if (failed) yield errorText(data);
  }
  const total = `${count.passed} passed, ${count.failed} failed`;
  if (process.env.DRUMS_TOTAL_FILE) writeFileSync(process.env.DRUMS_TOTAL_FILE, `${total}\n`);
  if (count.failed > 0 || count.passed === 0) process.exitCode = 1;
  yield `in the guest: ${total}\n`;
}

function errorText({ details: { error } }) {
  return inspect(error.cause ?? error, { depth: 4 })
    .replace(/^/gm, "      ")
    .concat("\n");
}
