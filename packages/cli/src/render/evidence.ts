import type { AttemptReport, EvidenceReport } from "../evidence/verify.js";
import { countText, renderClaims, renderParity, type TableOptions } from "./claims.js";
import { printable } from "./style.js";

/** A report of `verifyEvidence` for people: each attempt's faults, and the last one's claims and parity gaps. */
export function renderEvidence(report: EvidenceReport, options: TableOptions): string {
  const { paint } = options;
  const last = report.attempts.at(-1);
  return [
    ...report.missingAttempts.map((number) => paint("red", `attempt ${number}: REMOVED`)),
    ...report.attempts.flatMap((attempt) => attemptLines(attempt, options)),
    "",
    ...(last ? [renderClaims(last.claims, options)] : []),
    ...(last ? ["differs from the image's own machine:", renderParity(last.parity, options)] : []),
    report.ok ? paint("green", goodText(report)) : paint("red", verdictText(report)),
    "",
  ].join("\n");
}

function attemptLines(report: AttemptReport, { paint }: TableOptions): string[] {
  const { attempt, path, manifestFaults, fileFaults, differences, claims, intact } = report;
  const faults = [
    ...manifestFaults,
    ...fileFaults.map(({ path: file, fault }) => `${file}: ${fault}`),
    ...differences.map(
      ({ id, recorded, computed }) => `${id}: claims.json says ${recorded}; the records say ${computed}`,
    ),
  ];
  const name = attempt === undefined ? path : `attempt ${attempt}`;
  return [
    `${name}: ${intact ? "records whole" : paint("red", "NOT whole")}; ${countText(claims)}`,
    ...faults.map((fault) => paint("red", `  - ${printable(fault)}`)),
  ];
}

function goodText({ attempts }: EvidenceReport): string {
  if (attempts.at(-1)?.established)
    return "verified: the records are whole and every claim follows from them";
  return "verified: the records are whole and no claim failed; what is unknown stays so";
}

function verdictText({ attempts, missingAttempts }: EvidenceReport): string {
  if (missingAttempts.length > 0) return "not verified: attempts were removed";
  const broken = attempts.filter(({ intact }) => !intact).length;
  if (broken > 0) return `not verified: ${broken} of ${attempts.length} attempts are not what was written`;
  return "the records are whole, and by them not every claim is established";
}
