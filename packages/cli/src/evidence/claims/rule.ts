import { messageOf } from "../../errors.js";
import { type AttemptRecords, RecordAbsent, watchReads } from "../load.js";
import type { Claim } from "../records/claims.js";
import type { FixedValue, StepName } from "../records.js";

/** One thing that a rule found in the records. */
export interface Finding {
  readonly verdict: "holds" | "fails" | "unknown" | "missing";
  readonly text: string;
}

/** How one claim is computed: from records alone, by a pure function. */
export interface ClaimRule {
  readonly id: string;
  /** What is claimed, as one sentence. */
  readonly sentence: string;
  /** Steps of the probe that write its records: where one failed, a missing record is a failure and not "not reached". */
  readonly steps: readonly StepName[];
  /** Whether a run of this kind can make it; default: every run. */
  readonly applies?: (run: FixedValue<"run.json">) => boolean;
  /** What speaks for and against it. A record that is asked for and absent ends the check by RecordAbsent. */
  readonly check: (records: AttemptRecords) => readonly Finding[];
}

/** A finding for a condition: `good` where it holds, `bad` where it does not. */
export function expect(condition: boolean, good: string, bad: string): Finding {
  return condition ? { verdict: "holds", text: good } : { verdict: "fails", text: bad };
}

/** A finding that the records leave open. */
export function unknown(text: string): Finding {
  return { verdict: "unknown", text };
}

/** Checks every sibling on its own: a fault of one is told even where another was never reached. */
export function eachSibling(
  records: AttemptRecords,
  check: (sibling: number) => readonly Finding[],
): readonly Finding[] {
  if (records.siblings.length === 0) return [noSibling(records)];
  return records.siblings.flatMap((sibling) =>
    guarded(() => check(sibling)).map(({ verdict, text }) => ({
      verdict,
      text: `sibling ${sibling}: ${text}`,
    })),
  );
}

/** Says why there is no sibling to speak of: none was asked for, or run.json cannot be read. */
function noSibling(records: AttemptRecords): Finding {
  return guarded(() => {
    records.get("run.json");
    return [unknown("no sibling was asked for")];
  })[0] as Finding;
}

/** Computes a claim. Any fault fails it; a missing record leaves it unreached; an open question leaves it unknown. */
export function computeClaim(rule: ClaimRule, records: AttemptRecords): Claim {
  const read = new Set<string>();
  const findings = guarded(() => rule.check(watchReads(records, (path) => read.add(path))));
  const { id, sentence } = rule;
  const base = { id, sentence, records: [...read] };
  const texts = (verdict: Finding["verdict"]) =>
    findings.filter((finding) => finding.verdict === verdict).map(({ text }) => text);
  const [fails, missing, open] = [texts("fails"), texts("missing"), texts("unknown")];
  const stepFaults = missing.length > 0 ? failedSteps(rule, records) : [];
  if (fails.length + stepFaults.length > 0)
    return { ...base, status: "failed", reasons: [...fails, ...stepFaults] };
  if (missing.length > 0) return { ...base, status: "not reached", reasons: missing };
  if (open.length > 0) return { ...base, status: "unknown", reasons: open };
  return { ...base, status: "established", reasons: texts("holds") };
}

function guarded(check: () => readonly Finding[]): readonly Finding[] {
  try {
    return check();
  } catch (error) {
    // A record that parses and still makes its check throw (a frame of another size, say) contradicts the claim.
    const isMissing = error instanceof RecordAbsent && !error.isUnreadable;
    return [{ verdict: isMissing ? "missing" : "fails", text: messageOf(error) }];
  }
}

function failedSteps({ steps }: ClaimRule, { events }: AttemptRecords): string[] {
  return events.flatMap((event) => {
    if (event.event !== "end" || event.outcome !== "failed") return [];
    const [name] = event.step.split("/");
    if (!steps.some((step) => step === name)) return [];
    return [`step ${event.step} failed: ${event.error?.message ?? "no reason was recorded"}`];
  });
}
