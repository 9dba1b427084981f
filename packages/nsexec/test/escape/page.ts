import { ATTEMPTS, type AttemptName, KNOWN_HOLES } from "./catalogue.js";
import type { Column, EscapeRecord } from "./record.js";

const KINDS = ["hardened user", "hardened root", "compat user", "compat root"] as const;

/** The page of a recorded run: docs/escapes.md. */
export function renderPage({ kernel, outcomes }: EscapeRecord): string {
  const names = Object.keys(ATTEMPTS) as AttemptName[];
  const cell = (kind: string, moment: "session" | "sibling", name: AttemptName) => {
    const [profile, who] = kind.split(" ");
    return outcomes[`${profile} ${moment} ${who}` as Column]?.[name] ?? "not made";
  };
  const rows = names.map((name) => [
    `${ATTEMPTS[name]} (\`${name}\`)`,
    ...KINDS.map((kind) => shown(cell(kind, "session", name))),
  ]);
  const changed = names.flatMap((name) =>
    KINDS.filter((kind) => cell(kind, "session", name) !== cell(kind, "sibling", name)).map(
      (kind) => [name, kind, cell(kind, "session", name), cell(kind, "sibling", name)] as const,
    ),
  );
  return `# Attempts to get out

${names.length} attempts, each made by a user and by root, in both profiles, in a session and again in a sibling restored from
its checkpoint, on Linux ${kernel.replace(/-.*/, "")}. This page is made from the record of that run; the tests make all attempts again
and compare. The attempts are small C functions: packages/nsexec/test/escape/attempts.

An errno is the kernel's answer. **nothing**: let in, and nothing was there. **inert**: what was left means nothing
outside. **SUCCEEDS**: it did what it tried.

In \`hardened\` ${count(outcomes, "hardened")} succeed. In \`compat\` these do, and are its known holes:

${(Object.keys(KNOWN_HOLES) as AttemptName[]).map((name) => `- ${ATTEMPTS[name]}: ${KNOWN_HOLES[name]}.`).join("\n")}

${table(["attempt", ...KINDS.map((kind) => kind.replace(" ", ", "))], rows)}

## In a restored sibling

${
  changed.length === 0
    ? "Every attempt gave the same."
    : `Every attempt gave the same but these:\n\n${table(["attempt", "by", "session", "sibling"], changed)}`
}
`;
}

function shown(outcome: string): string {
  return outcome === "SUCCEEDS" ? "**SUCCEEDS**" : outcome;
}

function count(outcomes: EscapeRecord["outcomes"], profile: string): number {
  return Object.entries(outcomes)
    .filter(([column]) => column.startsWith(profile))
    .flatMap(([, seen]) => Object.values(seen))
    .filter((outcome) => outcome === "SUCCEEDS").length;
}

/** Padded, as the formatter of this repository leaves a table. */
function table(head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const width = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text, column) => text.padEnd(width[column] ?? 0)).join(" | ")} |`;
  return [line(head), line(width.map((size) => "-".repeat(size))), ...rows.map(line)].join("\n");
}
