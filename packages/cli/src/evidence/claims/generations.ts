import { documentFindings } from "./application.js";
import { asksBus, judgeAgain, tokenFindings, verdictFinding } from "./desktop.js";
import { distinctFrom, lives } from "./identity.js";
import { type ClaimRule, expect, type Finding, unknown } from "./rule.js";
import { busFindings } from "./session.js";
import { usable } from "./siblings.js";

/** Another session of the image lived beside the original and shared nothing with it. */
export const twoSessions: ClaimRule = {
  id: "two-sessions",
  sentence:
    "Two sessions of one image lived at the same time, both usable, each with a bus and a mount namespace of its own.",
  steps: ["twin"],
  check: (records) => {
    const { rules } = records.get("readiness.json");
    const { original, twin } = records.ofSibling("twin", "together.json");
    const bus = records.ofSibling("twin", "bus.json");
    const own = records.ofSibling("twin", "namespaces.json").namespaces.mnt;
    const other = records.get("session/handshake.json").namespaces.mnt;
    const seen = {
      frames: [records.siblingScreen("twin", "screen.png")],
      facts: records.ofSibling("twin", "facts.json").facts,
      bus: asksBus(rules) ? records.ofSibling("twin", "shell.json").bus : undefined,
    };
    return [
      lives("the original", original),
      lives("the second session", twin),
      verdictFinding(judgeAgain(seen, rules)),
      distinctFrom(bus.socket, new Map([["the original", records.get("bus.json").socket]])),
      ...busFindings(bus),
      own === undefined || other === undefined
        ? expect(false, "", "a mount namespace is not recorded")
        : distinctFrom(own, new Map([["the original", other]])),
    ];
  },
};

/** A sibling is a session like any other: it can be dumped and forked itself. */
export const secondGeneration: ClaimRule = {
  id: "second-generation",
  sentence:
    "A sibling was dumped and forked again: the second generation is usable, remembers both, and takes a sentence of its own.",
  steps: ["second"],
  check: (records) => {
    if (records.get("run.json").siblings === 0) return [unknown("no sibling was asked for")];
    const { verdict, findings } = records.ofSibling("second", "audit.json");
    const { original, report } = records.ofSibling("second", "dump.json");
    const token = records.ofSibling("second", "token.json");
    const typed = records.ofSibling("second", "typed.json");
    const first = records.ofSibling(1, "typed.json");
    const isWriter = records.get("run.json").task === "writer";
    return [
      expect(verdict === "pass", "its audit passed", `its audit found ${JSON.stringify(findings)}`),
      lives("the sibling that was dumped", original),
      expect(report.bytes > 0, `${(report.bytes / 2 ** 20).toFixed(1)} MiB`, "its dump is empty"),
      usable(records, "second"),
      ...tokenFindings(token),
      expect(
        token.value === records.get("token.json").value,
        "the original's token",
        `its token is ${JSON.stringify(token.value)}`,
      ),
      sentences(typed, first),
      ...(isWriter ? documentFindings(records, "second") : []),
    ];
  },
};

function sentences(
  typed: { readonly sentence: string; readonly content: string | null },
  first: { readonly sentence: string },
): Finding {
  const holds =
    typed.content?.trimEnd() === typed.sentence &&
    typed.sentence.startsWith(first.sentence) &&
    typed.sentence.length > first.sentence.length;
  return expect(
    holds,
    `it holds its sibling's sentence and its own: ${JSON.stringify(typed.sentence)}`,
    `it holds ${JSON.stringify(typed.content)}, typed was ${JSON.stringify(typed.sentence)} after ${JSON.stringify(first.sentence)}`,
  );
}
