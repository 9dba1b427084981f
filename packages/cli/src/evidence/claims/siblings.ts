import { applicationWindows, changedRegion, type DesktopFacts, type Frame } from "@drums/readiness";
import type { AttemptRecords } from "../load.js";
import type { FileIdentity, ProcessEntry } from "../records/common.js";
import type { Beside } from "../records.js";
import { applicationWindow } from "./application.js";
import { asksBus, judgeAgain, markerFindings, tokenFindings, verdictFinding } from "./desktop.js";
import { distinctFrom } from "./identity.js";
import { likeReference } from "./pixels.js";
import { type ClaimRule, eachSibling, expect, type Finding } from "./rule.js";
import { busFindings } from "./session.js";

/** Each sibling reads the token of before the dump. */
export const siblingToken: ClaimRule = {
  id: "sibling-token",
  sentence: "Each sibling holds the token of before the dump.",
  steps: ["sibling"],
  check: (records) =>
    eachSibling(records, (sibling) => {
      const [own, original] = [records.ofSibling(sibling, "token.json"), records.get("token.json")];
      return [
        ...tokenFindings(own),
        expect(own.value === original.value, "the original's", `the original's is ${original.value}`),
      ];
    }),
};

/** Each sibling has the marker of before the dump. */
export const siblingMarker: ClaimRule = {
  id: "sibling-marker",
  sentence: "Each sibling has the marker file of before the dump, byte for byte.",
  steps: ["sibling"],
  check: (records) =>
    eachSibling(records, (sibling) => {
      const [own, original] = [records.ofSibling(sibling, "marker.json"), records.get("marker.json")];
      const same = own.path === original.path && own.content === original.content;
      return [...markerFindings(own), expect(same, "the original's content", "its content is another")];
    }),
};

/** Each sibling runs the same processes under the same inner pids. */
export const siblingProcesses: ClaimRule = {
  id: "sibling-processes",
  sentence: "Each sibling runs the processes of before the dump, by name and inner pid.",
  steps: ["sibling"],
  check: (records) => {
    const original = records.get("processes.json").processes;
    return eachSibling(records, (sibling) => [
      sameProcesses(records.ofSibling(sibling, "processes.json").processes, original),
    ]);
  },
};

function sameProcesses(own: readonly ProcessEntry[], original: readonly ProcessEntry[]): Finding {
  const words = (list: readonly ProcessEntry[]) => list.map(({ pid, name }) => `${name} (${pid})`).sort();
  const [mine, theirs] = [words(own), words(original)];
  const lost = theirs.filter((word) => !mine.includes(word));
  const added = mine.filter((word) => !theirs.includes(word));
  const same = mine.length > 0 && mine.length === theirs.length && lost.length + added.length === 0;
  return expect(
    same,
    `${mine.length} processes`,
    `lost: ${lost.join(", ") || "none"}; added: ${added.join(", ") || "none"}; ${mine.length} of ${theirs.length}`,
  );
}

/** Each sibling shows the screen of before the dump. */
export const siblingScreen: ClaimRule = {
  id: "sibling-screen",
  sentence: "Each sibling shows the screen of before the dump: at most 5 % differ, at least 50 colours.",
  steps: ["sibling"],
  check: (records) => {
    const reference = records.screen("screens/reference.png");
    return eachSibling(records, (sibling) =>
      likeReference(records.siblingScreen(sibling, "screen.png"), reference),
    );
  },
};

/** Each sibling is a usable desktop with the same windows. */
export const siblingWindows: ClaimRule = {
  id: "sibling-windows",
  sentence: "Each sibling is a usable desktop by the same rule, with the windows of before the dump.",
  steps: ["sibling"],
  check: (records) => {
    const original = windowWords(records.get("reference/facts.json").facts);
    return eachSibling(records, (sibling) => {
      const own = windowWords(records.ofSibling(sibling, "facts.json").facts);
      return [
        usable(records, sibling),
        expect(
          own === original,
          `windows: ${own}`,
          `windows: ${own || "none"}; before the dump: ${original || "none"}`,
        ),
      ];
    });
  },
};

/** A restored session judged again by the rule that the application's window met before the dump. */
export function usable(records: AttemptRecords, sibling: Beside): Finding {
  const { rules } = records.get("application.json");
  return verdictFinding(
    judgeAgain(
      {
        frames: [records.siblingScreen(sibling, "screen.png")],
        facts: records.ofSibling(sibling, "facts.json").facts,
        bus: asksBus(rules) ? records.ofSibling(sibling, "shell.json").bus : undefined,
      },
      rules,
    ),
  );
}

/** In each sibling the application's window belongs to the same living process. */
export const siblingApplication: ClaimRule = {
  id: "sibling-application",
  sentence: "In each sibling the application's window is identified by its process, as before the dump.",
  steps: ["sibling"],
  check: (records) => {
    const application = records.get("application.json");
    return eachSibling(records, (sibling) => [
      applicationWindow(
        application,
        records.ofSibling(sibling, "facts.json").facts,
        records.ofSibling(sibling, "processes.json").processes,
      ),
    ]);
  },
};

function windowWords(facts: DesktopFacts): string {
  return applicationWindows(facts)
    .map(({ id, class: name = "no class", geometry: box }) => {
      const place = box === undefined ? "" : ` ${box.width}x${box.height}+${box.x}+${box.y}`;
      return `0x${id.toString(16)} ${name}${place}`;
    })
    .sort()
    .join(", ");
}

/** Each sibling has a bus of its own, by device and inode of its socket. */
export const siblingBus: ClaimRule = {
  id: "sibling-bus",
  sentence:
    "Each sibling has a system bus of its own, by device and inode, unlike every other's and the host's.",
  steps: ["sibling"],
  check: (records) => {
    const original = records.get("bus.json");
    const outside = new Map([
      ["the original", original.socket],
      ["the host", original.hostSocket.before],
    ]);
    return eachSibling(records, (sibling) => {
      const own = records.ofSibling(sibling, "bus.json");
      return [
        distinctFrom(
          own.socket,
          othersOf(records, sibling, outside, (other) => records.ofSibling(other, "bus.json").socket),
        ),
        ...busFindings(own),
      ];
    });
  },
};

/** Each sibling has a mount namespace of its own. */
export const siblingMounts: ClaimRule = {
  id: "sibling-mount-namespace",
  sentence: "Each sibling has a mount namespace of its own, unlike every other's and the host's.",
  steps: ["sibling"],
  check: (records) => {
    const outside = new Map([
      ["the original", records.get("session/handshake.json").namespaces.mnt ?? null],
      ["the host", records.get("host.json").namespaces.mnt ?? null],
    ]);
    const namespaceOf = (sibling: number) =>
      records.ofSibling(sibling, "namespaces.json").namespaces.mnt ?? null;
    return eachSibling(records, (sibling) => {
      const own = namespaceOf(sibling);
      if (own === null || [...outside.values()].includes(null))
        return [expect(false, "", "its mount namespace, the original's or the host's is not recorded")];
      return [distinctFrom(own, othersOf(records, sibling, outside, namespaceOf))];
    });
  },
};

/** The others that a sibling must differ from: the given ones and every sibling whose record there is. */
function othersOf(
  records: AttemptRecords,
  sibling: number,
  outside: ReadonlyMap<string, FileIdentity | null>,
  read: (other: number) => FileIdentity | null,
): Map<string, FileIdentity | null> {
  const others = records.siblings.filter((other) => other !== sibling);
  return new Map([...outside, ...others.map((other) => [`sibling ${other}`, read(other)] as const)]);
}

/** What was typed into one sibling is in that one alone, in its file and on its screen. */
export const ownSentence: ClaimRule = {
  id: "own-sentence",
  sentence: "Each sibling got its own typed sentence and no other's, as read from outside and in pixels.",
  steps: ["typing"],
  check: (records) =>
    eachSibling(records, (sibling) => {
      const { sentence, content, path } = records.ofSibling(sibling, "typed.json");
      const typed = records.siblingScreen(sibling, "screen-typed.png");
      const others = records.siblings.filter((other) => other !== sibling);
      return [
        expect(
          content?.trimEnd() === sentence && sentence.trim() !== "",
          `${path} holds ${JSON.stringify(sentence)} alone`,
          `${path} holds ${JSON.stringify(content)}, typed was ${JSON.stringify(sentence)}`,
        ),
        ...others.map((other) =>
          expect(
            records.ofSibling(other, "typed.json").sentence !== sentence,
            `another sentence than sibling ${other}'s`,
            `its sentence is sibling ${other}'s as well`,
          ),
        ),
        screensDiffer("its own screen before", typed, records.siblingScreen(sibling, "screen.png")),
        ...others.map((other) =>
          screensDiffer(`sibling ${other}'s`, typed, records.siblingScreen(other, "screen-typed.png")),
        ),
      ];
    }),
};

function screensDiffer(whose: string, a: Frame, b: Frame): Finding {
  const region = changedRegion(a, b);
  return expect(
    region !== undefined,
    `${region?.pixels} pixels differ from ${whose}`,
    `its screen after typing is the same as ${whose}`,
  );
}
