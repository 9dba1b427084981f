import { createHash } from "node:crypto";
import {
  type BusFacts,
  type DesktopFacts,
  defaultRules,
  type Frame,
  fieldRecordRules,
  gnomeRules,
  judge,
  type Rules,
  type Verdict,
} from "@drums/readiness";
import { wholeWord } from "../../session/boot/ready.js";
import type { FixedValue } from "../records.js";
import { type ClaimRule, expect, type Finding } from "./rule.js";

/** The desktop was usable before the dump: judged again here, from pixels and facts. */
export const desktopUsable: ClaimRule = {
  id: "desktop-usable",
  sentence: "The desktop was usable before the dump, by pixels and window facts.",
  steps: ["readiness"],
  check: (records) => {
    const { verdict, rules } = records.get("readiness.json");
    const frames = [records.screen("screens/before.png"), records.screen("screens/before-2.png")];
    const { facts } = records.get("facts.json");
    const again = judgeAgain(
      { frames, facts, bus: asksBus(rules) ? records.get("shell.json").bus : undefined },
      rules,
    );
    return [
      verdictFinding(again),
      expect(
        again.name === verdict.name,
        "the recorded verdict is the same",
        `the recorded verdict is ${verdict.name}, its records give ${again.name}`,
      ),
    ];
  },
};

/** Rules as a record names them. */
export type RulesValue = FixedValue<"readiness.json">["rules"];

/** What is judged again. */
export interface Seen {
  readonly frames: readonly Frame[];
  readonly facts: DesktopFacts;
  /** Of a desktop whose rules ask the session bus. */
  readonly bus: BusFacts | undefined;
}

/** Judges by rules that a record names. Throws where there are none of that name. */
export function judgeAgain({ frames, facts, bus }: Seen, rules: RulesValue): Verdict {
  return judge({ frames, facts, ...(bus && { bus }), rules: rulesFrom(rules) });
}

/** True where rules want the session bus's word beside pixels and windows. */
export function asksBus({ name }: RulesValue): boolean {
  return name === "gnome";
}

/** A verdict of readiness as a finding. */
export function verdictFinding({ ready, name, reasons }: Verdict): Finding {
  return expect(ready, `${name}: ${reasons.join("; ")}`, `${name}: ${reasons.join("; ")}`);
}

function rulesFrom({ name, window }: RulesValue): Rules {
  const wanted = window === undefined ? {} : { window: { ...window, class: wholeWord(window.class) } };
  if (name === "field-record") return fieldRecordRules();
  if (name === "gnome") return gnomeRules(wanted);
  if (name === "default") return defaultRules(wanted);
  throw new Error(`there are no readiness rules named ${name}`);
}

/** A program inside gave 16 hexadecimal characters and ended with 0. */
export const token: ClaimRule = {
  id: "token",
  sentence: "A token of 16 hex characters was obtained in the session with return code 0.",
  steps: ["token"],
  check: (records) => tokenFindings(records.get("token.json")),
};

/** What must hold of a token wherever it is read. */
export function tokenFindings({ value, exitCode }: FixedValue<"token.json">): Finding[] {
  return [
    expect(/^[0-9a-f]{16}$/.test(value), value, `${JSON.stringify(value)} is not 16 hex characters`),
    expect(
      exitCode === 0,
      "return code 0",
      exitCode === null ? "ended by a signal" : `return code ${exitCode}`,
    ),
  ];
}

/** A file was written in the session and read back whole. */
export const marker: ClaimRule = {
  id: "marker",
  sentence: "A marker file was written in the session and read back.",
  steps: ["marker"],
  check: (records) => markerFindings(records.get("marker.json")),
};

/** What must hold of a marker wherever it is read. */
export function markerFindings({ path, content, sha256, exitCode }: FixedValue<"marker.json">): Finding[] {
  const sum = createHash("sha256").update(content).digest("hex");
  return [
    expect(content !== "", path, `${path} is empty`),
    expect(
      sum === sha256,
      `sha256 ${sum.slice(0, 12)}…`,
      `its content has sha256 ${sum}, recorded is ${sha256}`,
    ),
    expect(
      exitCode === 0,
      "return code 0",
      exitCode === null ? "ended by a signal" : `return code ${exitCode}`,
    ),
  ];
}
