import { lives } from "./identity.js";
import { type ClaimRule, expect, type Finding } from "./rule.js";

/** Nothing was found that CRIU cannot dump. */
export const auditPassed: ClaimRule = {
  id: "audit",
  sentence: "The audit before the dump found nothing that CRIU refuses.",
  steps: ["audit", "dump"],
  check: (records) => {
    const { verdict, findings, durationMs } = records.get("audit.json");
    const all = findings.length === 0 ? "no finding" : `findings: ${JSON.stringify(findings)}`;
    return [expect(verdict === "pass", `${all}, in ${durationMs.toFixed(1)} ms`, all)];
  },
};

/** The session was dumped and lived on. */
export const dumped: ClaimRule = {
  id: "dumped",
  sentence: "The session was dumped by CRIU with the original left running.",
  steps: ["dump"],
  check: (records) => {
    const { criu, report, original, startedMs, endedMs } = records.get("dump.json");
    records.text("dump.log");
    return [
      expect(
        report.bytes > 0 && startedMs <= endedMs,
        `CRIU ${criu.version}, ${(report.bytes / 2 ** 20).toFixed(1)} MiB in ${report.totalMs.toFixed(0)} ms, frozen ${report.frozenMs.toFixed(0)} ms`,
        `the report of the dump contradicts itself: ${report.bytes} bytes, from ${startedMs} to ${endedMs} ms`,
      ),
      lives("the original", original),
    ];
  },
};

interface Interval {
  readonly startedMs: number;
  readonly endedMs: number;
}

/** All siblings were restored side by side and lived at one moment, the original too. */
export const restoredTogether: ClaimRule = {
  id: "siblings-together",
  sentence: "All siblings were restored side by side and live at the same time, next to the original.",
  steps: ["restore", "together"],
  check: (records) => {
    const intervals = records.siblings.map((sibling) => records.ofSibling(sibling, "restore.json"));
    const { original, siblings, observedMs } = records.get("together.json");
    if (intervals.length === 0) return [{ verdict: "unknown", text: "no sibling was asked for" }];
    return [
      ...overlaps(intervals),
      lives("the original", original),
      ...records.siblings.map((sibling, index) => {
        const seen = siblings.find((one) => one.sibling === sibling);
        if (seen === undefined) return expect(false, "", `sibling ${sibling} was not looked for`);
        const isSame = seen.pid === intervals[index]?.pid && seen.startTime === intervals[index]?.startTime;
        if (!isSame) return expect(false, "", `sibling ${sibling} is not the process that was restored`);
        return lives(`sibling ${sibling}`, seen);
      }),
      expect(
        intervals.every(({ endedMs }) => endedMs <= observedMs),
        "looked at in one moment after the last restore",
        "looked at before the last restore had ended",
      ),
    ];
  },
};

/** Each restore overlaps another in time; how many at once a machine can do is its own matter. */
function overlaps(intervals: readonly Interval[]): Finding[] {
  const reversed = intervals.filter(({ startedMs, endedMs }) => startedMs > endedMs);
  if (reversed.length > 0) return [expect(false, "", "a restore ends before it starts")];
  if (intervals.length === 1) return [];
  const alone = intervals.flatMap((one, index) =>
    intervals.some((other) => other !== one && one.startedMs < other.endedMs && other.startedMs < one.endedMs)
      ? []
      : [`sibling ${index + 1}`],
  );
  const from = Math.min(...intervals.map(({ startedMs }) => startedMs));
  const to = Math.max(...intervals.map(({ endedMs }) => endedMs));
  return [
    expect(
      alone.length === 0,
      `${intervals.length} siblings in ${(to - from).toFixed(0)} ms, side by side`,
      `restored alone and not beside another: ${alone.join(", ")}`,
    ),
  ];
}
