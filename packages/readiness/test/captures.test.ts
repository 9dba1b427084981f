import { describe, expect, test } from "vitest";
import {
  defaultRules,
  fieldRecordRules,
  gnomeRules,
  type JudgeInput,
  judge,
  type Rules,
  type VerdictName,
} from "../src/index.js";
import { capture, captureFacts, gnomeFacts } from "./support/frames.js";

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

/** Captures with what X server and session bus said, judged by GNOME's rule. */
const GNOME: readonly [name: string, label: string, verdict: VerdictName][] = [
  ["no-randr", "not usable: GNOME without RandR", "black-no-monitor"],
  ["shm-collision", "not usable: drawn into memory that X does not show", "black-with-ready-signals"],
  ["accounts-mute", "not usable: the Shell waits for a mute name", "stalled-on-bus"],
  ["system-bus-stopped", "not usable: the Shell waits for a mute bus", "stalled-on-bus"],
  ["no-system-bus", "not usable: the failure page", "failure-page"],
  ["no-composite", "not usable: the failure page", "failure-page"],
  ["no-session-type", "not usable: the failure page", "failure-page"],
  ["no-home", "not usable: the Shell has ended", "shell-gone"],
  ["run-dialog", "not usable: a dialog of the Shell's", "modal-dialog"],
  ["save-dialog", "not usable: a program's modal dialog", "modal-dialog"],
  ["overview", "usable: the Overview", "ready"],
  ["overview-with-gedit", "usable: the Overview over gedit", "ready"],
  ["dark-terminal", "usable: a dark terminal on black", "ready"],
  ["black-background", "usable: a panel on black, nothing open", "ready"],
];

describe("GNOME's rule on real captures", () => {
  test.each(GNOME)("%s is %s", (name, _, verdict) => {
    const judged = judgeGnome(name, gnomeRules());
    expect(judged).toMatchObject({ name: verdict, ready: verdict === "ready", facts: "x11", bus: true });
    expect(judged.remedy === undefined).toBe(judged.ready);
  });

  test.each(GNOME)(
    "%s is ready by no rule that lacks some of the facts, unless it is usable",
    (name, _, verdict) => {
      const { facts } = gnomeFacts(name);
      const frames = [capture(`gnome/${name}`)];
      const isDialog = verdict === "modal-dialog"; // its pixels are those of a desktop
      for (const seen of [{ frames }, { frames, facts }])
        if (verdict !== "ready" && !isDialog)
          expect(judge({ ...seen, rules: gnomeRules() }).ready).toBe(false);
    },
  );

  test("a window under the Overview is not in use, though it says that it has the focus", () => {
    const rules = gnomeRules({ window: { class: /gedit/i, focused: true } });
    expect(judgeGnome("overview-with-gedit", rules).name).toBe("window-not-focused");
  });

  test("a black screen of a Shell that has only just said that it runs is early, not its last word", () => {
    const { facts, bus } = gnomeFacts("shm-collision");
    const frames = [capture("gnome/shm-collision")];
    const early = judge({ frames, facts, bus: { ...bus, runningForMs: 100 }, rules: gnomeRules() });
    expect(early.name).toBe("black-early");
  });

  test("a panel on one colour counts as a plain background only by the word of a Shell that has run for a while", () => {
    const { facts, bus } = gnomeFacts("black-background");
    const frames = [capture("gnome/black-background")];
    for (const change of [{ runningForMs: 100 }, { overviewActive: true }, { monitors: 0 }])
      expect(judge({ frames, facts, bus: { ...bus, ...change }, rules: gnomeRules() }).name).toBe(
        "nothing-but-panel",
      );
  });

  test("a name that has been mute for a moment only is no cause", () => {
    const { facts, bus } = gnomeFacts("accounts-mute");
    const mute = bus.mute.map((one) => ({ ...one, forMs: 300 }));
    const frames = [capture("gnome/accounts-mute")];
    expect(judge({ frames, facts, bus: { ...bus, mute }, rules: gnomeRules() }).name).toBe("black-early");
  });
});

function judgeGnome(name: string, rules: Rules) {
  return judge({ frames: [capture(`gnome/${name}`)], rules, ...gnomeFacts(name) });
}

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
  const plain = LABELS.map(([name, label]) => {
    const facts = captureFacts(name);
    const seen = { frames: [capture(name)], ...(facts && { facts }) };
    return row({ name, label, told: facts ? "text" : "none", seen, ours: defaultRules() });
  });
  const told = GNOME.map(([name, label]) => {
    const seen = { frames: [capture(`gnome/${name}`)], ...gnomeFacts(name) };
    return row({ name: `gnome/${name}`, label, told: "x11, bus", seen, ours: gnomeRules() });
  });
  const head = [
    "capture",
    "a person says",
    "facts",
    "our rule",
    "field-record rule",
    "what that finds wrong",
  ];
  return `# How both rules judge the captures

Generated from \`test/fixtures\` by \`test/captures.test.ts\`. Where a capture has no facts, its pixels alone are judged;
of a single picture no rule can say whether two frames agree. Our rule is \`gnomeRules()\` where the session bus was
asked, else \`defaultRules()\`.

${markdownTable([head, ...plain, ...told])}
`;
}

interface Row {
  readonly name: string;
  readonly label: string;
  readonly told: string;
  readonly seen: Omit<JudgeInput, "rules">;
  readonly ours: Rules;
}

function row({ name, label, told, seen, ours }: Row): string[] {
  const field = judge({ ...seen, rules: fieldRecordRules() });
  const failed = field.checks
    .filter(({ ok }) => ok === false)
    .map(({ name: check, detail }) => `${check}: ${detail}`);
  return [name, label, told, judge({ ...seen, rules: ours }).name, field.name, failed.join("; ") || "–"];
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
