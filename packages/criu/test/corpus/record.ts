import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { fileURLToPath } from "node:url";
import type { Proof, RuleId, Severity } from "../../src/audit/rules.js";
import { agrees, type Outcome, type Prediction, predictionOf, type Seen } from "./outcome.js";

const FOLDER = fileURLToPath(new URL("records", import.meta.url));
const PROVEN = fileURLToPath(new URL("../../src/audit/proven.json", import.meta.url));

/** A case on one CRIU and one kernel. */
export interface CaseRecord {
  /** Absent where the object could not be made. */
  readonly audit?: { readonly prediction: Prediction; readonly findings: readonly RecordedFinding[] };
  readonly outcome: Outcome;
}

interface RecordedFinding {
  readonly rule: RuleId;
  readonly severity: Severity;
}

/** Runs of the corpus on one kernel: by CRIU version, then by case. */
export interface KernelRecord {
  readonly kernel: string;
  readonly versions: Readonly<Record<string, Readonly<Record<string, CaseRecord>>>>;
}

/** The kernel of this machine as records name it: `6.18`. */
export function kernelName(): string {
  return /^\d+\.\d+/.exec(release())?.[0] ?? release();
}

/** Every record, oldest kernel first. */
export function readRecords(): KernelRecord[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => JSON.parse(readFileSync(`${FOLDER}/${name}`, "utf8")) as KernelRecord);
}

/** This kernel's cases for a version, where there is a record. */
export function recordedCases(version: string): Readonly<Record<string, CaseRecord>> | undefined {
  return readRecords().find(({ kernel }) => kernel === kernelName())?.versions[version];
}

/** What is kept of a run. */
export function caseRecord({ audit, outcome }: Seen): CaseRecord {
  const { kind, detail } = outcome;
  const kept = { kind, ...(detail === undefined ? {} : { detail: withoutNumbers(detail) }) };
  if (audit === undefined) return { outcome: kept };
  const pairs = audit.findings.map(({ rule, severity }) => [rule, { rule, severity }] as const);
  return {
    audit: { prediction: predictionOf(audit), findings: [...new Map(pairs).values()] },
    outcome: kept,
  };
}

/** Pids, inodes and places in the source differ from run to run and from version to version. */
function withoutNumbers(detail: string): string {
  return detail
    .replace(/^\s*(\d+: )?Error \(\S+\): /, "")
    .replace(/\b(0x)?(?=[0-9a-f]*\d)[0-9a-f]{3,}\b/g, "N")
    .replace(/\b(pid_real|sid\/pgrp|socket) \d+/g, "$1 N");
}

/**
 * Writes a version's run into this kernel's record, and what is proven by all records into the rules' own file.
 * A run of a part leaves the other cases as they are.
 */
export function writeRecord(
  version: string,
  seen: ReadonlyMap<string, Seen>,
  { isWhole }: { readonly isWhole: boolean },
): void {
  const file = `${FOLDER}/${kernelName()}.json`;
  const before: KernelRecord = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as KernelRecord)
    : { kernel: kernelName(), versions: {} };
  const found = Object.fromEntries([...seen].map(([id, one]) => [id, caseRecord(one)]));
  const cases = isWhole ? found : { ...before.versions[version], ...found };
  const versions = Object.entries({ ...before.versions, [version]: cases }).sort(([a], [b]) =>
    a.localeCompare(b, "en", { numeric: true }),
  );
  writeFileSync(file, `${JSON.stringify({ ...before, versions: Object.fromEntries(versions) }, null, 2)}\n`);
  writeFileSync(PROVEN, `${JSON.stringify(provenRules(readRecords()), null, 2)}\n`);
}

/** A rule is proven where a case had it, the audit as a whole was right, and what came is what the rule says. */
export function provenRules(records: readonly KernelRecord[]): Record<string, Proof[]> {
  const proven = new Map<string, Map<string, Proof>>();
  for (const { kernel, versions } of records)
    for (const [criu, cases] of Object.entries(versions))
      for (const one of Object.values(cases))
        for (const rule of rulesProvenBy(one)) {
          const proofs = proven.get(rule) ?? new Map<string, Proof>();
          proven.set(rule, proofs.set(`${criu} ${kernel}`, { criu, kernel }));
        }
  return Object.fromEntries(
    [...proven].sort(([a], [b]) => a.localeCompare(b)).map(([rule, proofs]) => [rule, [...proofs.values()]]),
  );
}

function rulesProvenBy({ audit, outcome }: CaseRecord): RuleId[] {
  if (audit === undefined || outcome.kind === "unavailable" || !agrees(audit.prediction, outcome)) return [];
  return audit.findings.filter(({ severity }) => says(severity, outcome)).map(({ rule }) => rule);
}

function says(severity: Severity, outcome: Outcome): boolean {
  if (severity === "refuses") return agrees("refuses", outcome);
  if (severity === "may-refuse") return agrees("may refuse", outcome);
  return outcome.kind === (severity === "loses" ? "lost" : "held");
}
