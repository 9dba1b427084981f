import { describe, expect, test } from "vitest";
import { defaultRules, fieldRecordRules, judge, type VerdictName } from "../src/index.js";
import { capture, captureFacts } from "./support/frames.js";

/** The captures with what a person says of them, and what the default rule is to call them. */
const LABELS: readonly [name: string, label: string, verdict: VerdictName][] = [
  ["black-with-cursor-yaru-norandr", "not usable: GNOME without a RandR monitor", "black"],
  ["black-with-cursor-adwaita-bare", "not usable: a black root with a cursor", "black"],
  ["gnome-frame-1.40s", "not usable: a panel over flat blue", "nothing-but-panel"],
  ["gnome-frame-1.60s", "not usable: a panel over flat grey", "nothing-but-panel"],
  ["gnome-frame-2.00s-first-complete", "usable: the first complete frame", "ready"],
  ["gnome-settled-overview", "usable: the Overview", "ready"],
  ["gnome-writer-in-overview", "usable: Writer, not focused", "ready"],
  ["gnome-writer", "usable: Writer, focused", "ready"],
  ["oh-no-no-system-bus", "not usable: the failure page", "failure-page"],
  ["openbox-xterm", "usable: a terminal on black", "ready"],
];

describe("the default rule on real captures", () => {
  test.each(LABELS)("%s is %s", (name, _, verdict) => {
    const facts = captureFacts(name);
    const judged = judge({ frames: [capture(name)], ...(facts && { facts }) });
    expect(judged).toMatchObject({
      name: verdict,
      ready: verdict === "ready",
      facts: facts ? "text" : "none",
    });
    expect(judged.reasons.includes("facts: none, judged by pixels alone")).toBe(facts === undefined);
    expect(judged.remedy === undefined).toBe(judged.ready);
  });

  test.each(LABELS)("%s is judged alike by its pixels alone", (name, _, verdict) => {
    expect(judge({ frames: [capture(name)] }).name).toBe(verdict);
  });

  test("Writer counts as focused on the desktop, not in the Overview", () => {
    const rules = defaultRules({ window: { focused: true, minWidth: 200 } });
    const [on, under] = ["gnome-writer", "gnome-writer-in-overview"].map((name) => {
      const facts = captureFacts(name);
      return judge({ frames: [capture(name)], rules, ...(facts && { facts }) });
    });
    expect([on?.name, under?.name]).toEqual(["ready", "window-not-focused"]);
  });
});

// Written anew by `npx vitest run packages/readiness/test/captures.test.ts --update`.
test("the table of how both rules judge the captures is current", async () => {
  await expect(table()).toMatchFileSnapshot("../docs/captures.md");
});

function table(): string {
  const rows = LABELS.map(([name, label]) => {
    const facts = captureFacts(name);
    const [ours, field] = [defaultRules(), fieldRecordRules()].map((rules) => {
      const { name: verdict, checks } = judge({ frames: [capture(name)], rules, ...(facts && { facts }) });
      const failed = checks
        .filter(({ ok }) => ok === false)
        .map(({ name: check, detail }) => `${check}: ${detail}`);
      return { verdict, why: failed.join("; ") };
    });
    return [name, label, facts ? "text" : "none", `${ours?.verdict}`, `${field?.verdict}`, field?.why || "–"];
  });
  const head = [
    "capture",
    "a person says",
    "facts",
    "default rule",
    "field-record rule",
    "what that finds wrong",
  ];
  return `# How both rules judge the captures

Generated from \`test/fixtures\` by \`test/captures.test.ts\`. Where a capture has no facts, its pixels alone are judged;
of a single picture no rule can say whether two frames agree.

${markdownTable([head, ...rows])}
`;
}

/** Columns as wide as their widest cell, as the formatter wants them. */
function markdownTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}
