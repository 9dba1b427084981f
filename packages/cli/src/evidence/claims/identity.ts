import type { FileIdentity, Sighting } from "../records/common.js";
import { expect, type Finding } from "./rule.js";

/** Identity of a file or namespace as one word: device and inode together. */
export function identityKey({ device, inode }: FileIdentity): string {
  return `${device}:${inode}`;
}

/** Device and inode, for people. */
export function identityText({ device, inode }: FileIdentity): string {
  return `device ${device} inode ${inode}`;
}

/** True where both are the same file, or both are no file. */
export function sameFile(a: FileIdentity | null, b: FileIdentity | null): boolean {
  return a === null || b === null ? a === b : identityKey(a) === identityKey(b);
}

/** Lives on as the same process: the pid is there with the same start time. */
export function lives(who: string, { pid, startTime, seenStartTime }: Sighting): Finding {
  const fate = seenStartTime === null ? "is gone" : "is another process with the same pid";
  return expect(seenStartTime === startTime, `${who} lives (pid ${pid})`, `${who} (pid ${pid}) ${fate}`);
}

/** Says of `own` whether it differs from each of the others. */
export function distinctFrom(own: FileIdentity, others: ReadonlyMap<string, FileIdentity | null>): Finding {
  const same = [...others].filter(([, other]) => sameFile(own, other)).map(([who]) => who);
  return expect(
    same.length === 0,
    `${identityText(own)}, its own`,
    `${identityText(own)}, shared with ${same.join(", ")}`,
  );
}
