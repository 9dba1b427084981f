import { BLIND_SPOTS } from "../../src/audit/blind-spots.js";
import { FIELD_RECORD_KINDS } from "../../src/audit/field-record.js";
import { provenOn, RULES, type Rule, type RuleId, type RuleOption } from "../../src/audit/rules.js";
import { DEFAULT_VERSION } from "../../src/install/pins.js";
import { table } from "../helpers/table.js";
import { agrees, type Outcome } from "./outcome.js";
import type { CaseRecord, KernelRecord } from "./record.js";

/** docs/criu-rules.md: the audit's rules as they are in the data, and what the records say of the stricter list. */
export function rulesPage(records: readonly KernelRecord[]): string {
  const rules = (Object.entries(RULES) as [RuleId, Rule][]).map(([id, rule]) => [
    `\`${id}\``,
    severityText(rule),
    rule.title,
    `${rule.remedy}${rule.option === undefined ? "" : ` (${optionText(rule.option)})`}`,
    proofText(id),
  ]);
  return `# What the audit says before a dump

\`auditSession\` looks at a session through /proc alone and says what CRIU will refuse, what a sibling will lose, and what
ties it to its host. This page is made from the rules (packages/criu/src/audit/rules.ts) and from the records of the test
corpus ([criu-matrix.md](criu-matrix.md)): a rule is proven on a CRIU and a kernel where a process was given just that
object, the audit foretold what would come, and dump, restore and a check of the object in the sibling showed it.

- **refuses**: the dump fails, or a restore of it. **may-refuse**: it does so in some states that /proc does not tell apart.
- **loses**: the dump succeeds and something is gone in the siblings. **slow**: it takes seconds longer.
- **isolates-badly**: CRIU takes it, but the session shares it with its host.

${table(["rule", "severity", "what", "remedy", "proven on (CRIU on kernel)"], rules)}
## What it cannot see

Nothing that the audit reads in /proc tells of these, and almost all are lost in silence. The corpus proves each:

${table(
  ["object", "lost in a sibling", "CRIU", "case"],
  BLIND_SPOTS.map((spot) => [spot.object, spot.comes, (spot.criu ?? ["all"]).join(", "), `\`${spot.case}\``]),
)}
It looks at a running system: what changes between the audit and the dump is CRIU's to find. Of threads beside the first
it sees descriptors and namespaces, not settings.

## The stricter list of the field record

The field record refuses eleven kinds of filesystem before a dump, whatever their use. \`auditSession\` does so with
\`profile: "field-record"\`. What CRIU itself does with each, mounted in a session:

${table(
  ["kind", ...columnsOf(records).map(({ title }) => title)],
  FIELD_RECORD_KINDS.map((kind) => kindRow(kind, records)),
)}`;
}

/** docs/criu-matrix.md: every case of the corpus on every CRIU and kernel of the records. */
export function matrixPage(records: readonly KernelRecord[]): string {
  const columns = columnsOf(records);
  const ids = [...new Set(columns.flatMap(({ cases }) => Object.keys(cases)))];
  const rows = ids.map((id) => [
    id.replaceAll("_", " "),
    auditText(columns, id),
    ...columns.map(({ cases }) => outcomeText(cases[id])),
  ]);
  const told = columns.map(({ title, cases }) => `${title}: ${summary(Object.values(cases))}`);
  return `# What CRIU does with each kernel object

One process for each object and state (packages/criu/test/corpus/program), in a session of its own: set up, audited,
dumped, restored with a fresh upper, and asked whether the object is as it was. This page is made from the records of such
runs (packages/criu/test/corpus/records). A test runs all of it again with CRIU ${DEFAULT_VERSION}, with the other
versions what differs between them, and in the guest ([guest.md](guest.md)) what a kernel decides, and compares.

- **held**: the sibling's object is as the original's. **lost**: dump and restore succeed, and the process itself finds
  something gone. **refused**: the dump or the restore fails; the words are the rule that explains it or the log's own.
- **–**: this kernel cannot make the object. An empty field: not run there. **unseen**: /proc does not show it
  ([criu-rules.md](criu-rules.md#what-it-cannot-see)).

${told.map((line) => `- ${line}.`).join("\n")}

${table(["case", "the audit says", ...columns.map(({ title }) => title)], rows)}`;
}

interface Column {
  readonly title: string;
  readonly cases: Readonly<Record<string, CaseRecord>>;
}

function columnsOf(records: readonly KernelRecord[]): Column[] {
  return records.flatMap(({ kernel, versions }) =>
    Object.entries(versions).map(([criu, cases]) => ({ title: `${criu} on ${kernel}`, cases })),
  );
}

function severityText({ severity, versions = {}, kernelFrom }: Rule): string {
  const others = Object.entries(versions).map(([version, other]) => `${version}: ${other}`);
  const from = kernelFrom === undefined ? [] : [`from Linux ${kernelFrom} on`];
  return [severity, ...others, ...from].join("; ");
}

function optionText(option: RuleOption): string {
  if (option === "externals") return "option `externals`";
  return Object.entries(option)
    .map(([flag, value]) => (typeof value === "number" ? `flag \`${flag}\`` : `flag \`${flag}: ${value}\``))
    .join(", ");
}

function proofText(id: RuleId): string {
  const proofs = provenOn(id);
  const kernels = [...new Set(proofs.map(({ kernel }) => kernel))];
  const texts = kernels.map((name) => {
    const versions = proofs.filter(({ kernel }) => kernel === name).map(({ criu }) => criu);
    return `${versions.join(", ")} on ${name}`;
  });
  return texts.join("; ") || "not by the corpus";
}

function kindRow(kind: string, records: readonly KernelRecord[]): string[] {
  return [kind, ...columnsOf(records).map(({ cases }) => outcomeText(cases[`mount_${kind}`]))];
}

/** The default version's audit, and those of others where they differ. */
function auditText(columns: readonly Column[], id: string): string {
  const spot = BLIND_SPOTS.some((one) => one.case === id) ? " (unseen)" : "";
  const texts = columns.flatMap(({ title, cases }) => {
    const audit = cases[id]?.audit;
    if (audit === undefined) return [];
    const rules = audit.findings.map(({ rule }) => `\`${rule}\``).join(" ");
    return [{ title, text: `${audit.prediction}${rules === "" ? "" : `: ${rules}`}` }];
  });
  const [first] = texts;
  if (first === undefined) return "–";
  if (texts.every(({ text }) => text === first.text)) return `${first.text}${spot}`;
  return texts.map(({ title, text }) => `${title}: ${text}`).join("; ");
}

function outcomeText(one: CaseRecord | undefined): string {
  if (one === undefined) return "";
  if (one.outcome.kind === "unavailable") return "–";
  const { kind, detail } = one.outcome;
  return detail === undefined ? kind : `${kind}: ${detail.replaceAll("|", "\\|").replaceAll("<", "\\<")}`;
}

function summary(cases: readonly CaseRecord[]): string {
  const count = (test: (outcome: Outcome) => boolean) => cases.filter(({ outcome }) => test(outcome)).length;
  const right = cases.filter(
    ({ audit, outcome }) => audit && outcome.kind !== "unavailable" && agrees(audit.prediction, outcome),
  );
  return [
    `${count(({ kind }) => kind === "held")} held`,
    `${count(({ kind }) => kind === "lost")} lost`,
    `${count(({ kind }) => kind.endsWith("refused"))} refused`,
    `${count(({ kind }) => kind === "unavailable")} cannot be made`,
    `${right.length} as the audit foretold`,
  ].join(", ");
}
