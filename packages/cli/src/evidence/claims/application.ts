import { type DesktopFacts, describeWindow, matchingWindows } from "@drums/readiness";
import { wholeWord } from "../../session/boot/ready.js";
import type { AttemptRecords } from "../load.js";
import type { ProcessEntry } from "../records/common.js";
import type { Beside, FixedValue, SiblingValue } from "../records.js";
import { asksBus, judgeAgain, verdictFinding } from "./desktop.js";
import { type ClaimRule, eachSibling, expect, type Finding } from "./rule.js";

/** The application was there before the dump, and the keyboard with it. */
export const application: ClaimRule = {
  id: "application",
  sentence:
    "The application's window was identified before the dump: its class, its living process, on the screen, with the keyboard.",
  steps: ["application", "reference"],
  check: (records) => {
    const opened = records.get("application.json");
    const { facts } = records.get("reference/facts.json");
    const bus = asksBus(opened.rules) ? records.get("reference/shell.json").bus : undefined;
    const frames = [records.screen("screens/reference.png")];
    return [
      applicationWindow(opened, facts, records.get("processes.json").processes),
      verdictFinding(judgeAgain({ frames, facts, bus }, opened.rules)),
    ];
  },
};

/** The window of an application by its class, and by the pid that the X server knows among the living of its name. */
export function applicationWindow(
  { name, process, rules: { window } }: FixedValue<"application.json">,
  facts: DesktopFacts,
  processes: readonly ProcessEntry[],
): Finding {
  if (window === undefined) return expect(false, "", `the rules for ${name} name no window`);
  const living = processes.filter((one) => one.name === process).map(({ pid }) => pid);
  const wanted = { class: wholeWord(window.class), ...(window.focused && { focused: true }), pids: living };
  const found = matchingWindows(facts, wanted).find(({ focused }) => focused || !window.focused);
  return expect(
    found !== undefined,
    `${found && describeWindow(found)}, of a living ${process}`,
    `no window of class ${window.class} is on the screen${window.focused ? " with the keyboard" : ""} and owned by one of ${living.length} living ${process}`,
  );
}

/** The Overview is closed, by the Shell's own word. */
export const overviewLeft: ClaimRule = {
  id: "overview-left",
  sentence:
    "GNOME's Overview was left before the dump and is not shown in any sibling, by the Shell's own word.",
  steps: ["readiness", "reference", "sibling"],
  applies: ({ rules }) => rules === "gnome",
  check: (records) => [
    overview("before the dump", records.get("reference/shell.json")),
    ...eachSibling(records, (sibling) => [overview("restored", records.ofSibling(sibling, "shell.json"))]),
  ],
};

function overview(when: string, { bus }: SiblingValue<"shell.json">): Finding {
  return expect(
    bus.overviewActive === false,
    `${when}: OverviewActive is false`,
    `${when}: OverviewActive is ${bus.overviewActive ?? "not answered"}`,
  );
}

/** LibreOffice's own lock on its document survives. */
export const locksHeld: ClaimRule = {
  id: "locks-held",
  sentence:
    "The POSIX lock that the application held before the dump is held in each sibling: the kernel lists it, another program is refused.",
  steps: ["application", "sibling"],
  applies: ({ task }) => task === "writer",
  check: (records) => {
    const { process } = records.get("application.json");
    return [
      ...lockFindings(records.get("locks.json"), process, records.get("processes.json").processes),
      ...eachSibling(records, (sibling) =>
        lockFindings(
          records.ofSibling(sibling, "locks.json"),
          process,
          records.ofSibling(sibling, "processes.json").processes,
        ),
      ),
    ];
  },
};

/** `2: POSIX  ADVISORY  WRITE 392 00:29:2278131 0 EOF`, proc_locks(5). */
const LOCK = /^\d+: POSIX +ADVISORY +WRITE +(\d+) +[0-9a-f]+:[0-9a-f]+:(\d+) /;

function lockFindings(
  { path, inode, procLocks, attempt }: FixedValue<"locks.json">,
  process: string,
  processes: readonly ProcessEntry[],
): Finding[] {
  const living = processes.filter(({ name }) => name === process).map(({ pid }) => `${pid}`);
  const holders = procLocks.split("\n").flatMap((line) => {
    const [, pid, of] = LOCK.exec(line) ?? [];
    return pid !== undefined && of === inode ? [pid] : [];
  });
  return [
    expect(
      holders.some((pid) => living.includes(pid)),
      `${path} is locked for writing by ${process} (${holders.join(", ")})`,
      `no living ${process} holds a POSIX write lock on ${path} (inode ${inode})`,
    ),
    expect(
      attempt.exitCode === 0 && attempt.stdout.trim() === "EAGAIN" && attempt.control.trim() === "granted",
      "another program's lock on it is refused with EAGAIN, and granted on another file",
      `another program was answered ${JSON.stringify(attempt.stdout)}, on another file ${JSON.stringify(attempt.control)}`,
    ),
  ];
}

/** What was typed arrives in documents that are whole. */
export const documents: ClaimRule = {
  id: "documents",
  sentence:
    "Each sibling's document, saved by keyboard as .odt and .docx and read from outside, is valid and holds exactly what was typed before the dump and into this sibling.",
  steps: ["typing"],
  applies: ({ task }) => task === "writer",
  check: (records) => eachSibling(records, (sibling) => documentFindings(records, sibling)),
};

/** The documents of a session, judged again from their bytes. */
export function documentFindings(records: AttemptRecords, sibling: Beside): Finding[] {
  const { sentence } = records.ofSibling(sibling, "typed.json");
  const { documents: saved } = records.ofSibling(sibling, "documents.json");
  return (["odt", "docx"] as const).flatMap((format) => {
    const entry = saved.find((one) => one.format === format);
    if (entry === undefined) return [expect(false, "", `no .${format} was saved`)];
    const { valid, faults, text, sha256 } = records.document(sibling, format);
    return [
      expect(
        sha256 === entry.sha256,
        `${entry.path}, ${entry.bytes} bytes`,
        `its .${format} is not the one recorded`,
      ),
      expect(valid, `a valid .${format}`, `its .${format} is not valid: ${faults.join("; ")}`),
      expect(
        text.trimEnd() === sentence,
        `it holds ${JSON.stringify(text.trimEnd())}`,
        `its .${format} holds ${JSON.stringify(text)}, typed was ${JSON.stringify(sentence)}`,
      ),
    ];
  });
}
