import { table } from "../helpers/table.js";
import type { AnswersRecord } from "./record.js";

/** docs/criu-answers.md, of a recorded run. */
export function renderPage({ kernel, criu, locks, clocks, cold, generations }: AnswersRecord): string {
  return `# What a restore does to a program

Answers to four questions, from a run on Linux ${kernel} with CRIU ${criu}. This page is made from that run's record
(packages/criu/test/answers/record.json); the tests make the experiments again and check what is said here. The program
is packages/criu/test/answers/probe.c. Times are of a busy machine with two cores: read them as sizes.

## Are file locks held after a restore?

Yes, where dump and restore are told to keep them, as drums tells both. Another process of the same sibling looked:

${table(
  ["lock", "before the dump", "sibling", "sibling, flag left out at the restore"],
  ["posix", "ofd", "flock"].map((kind) => [
    LOCK_NAMES[kind] ?? kind,
    locks.original[kind] ?? "",
    locks.withFlag[kind] ?? "",
    locks.withoutFlag[kind] ?? "",
  ]),
)}
Without the flag at the restore CRIU reports success and the locks are gone. The manifest therefore keeps the dump's
flags and a restore repeats them. Without the flag at the dump CRIU refuses (\`Some file locks are hold by dumping
tasks!\`). Each sibling holds the lock on its own file: siblings do not exclude each other.

## What happens to clocks?

The dump was restored ${clocks.pauseMs} ms after it was made. The program reads each clock every millisecond; this is the
largest step that it saw between two readings, in milliseconds. A timer's step is what went off its remaining time.

${table(
  ["clock", "original (frozen, then running on)", "sibling"],
  Object.keys(clocks.sibling).map((clock) => [
    CLOCK_NAMES[clock] ?? clock,
    String(clocks.original[clock]),
    String(clocks.sibling[clock]),
  ]),
)}
- **Realtime is the machine's.** A sibling's wall clock jumps by all the time that the dump lay, be it days. Programs that
  show the time or keep a timeout by it see one large step forward; a panel clock shows the old time until it wakes.
- **Monotonic and boottime go on** from where the dump left them: CRIU restores into a time namespace. What is left is the
  time of freezing and of the restore itself. They differ between siblings and from the host.
- **Timers keep what they had left**, on every clock. An interval of ten minutes that had four left has four left, whatever
  the wall clock says; a timer that was set to a date fires late by the time that the dump lay.

## Does a restore need the page cache?

No. Images and layer were taken out of the page cache (posix_fadvise, POSIX_FADV_DONTNEED; ${kib(cold.cachedBefore)}
before, ${kib(cold.cachedAfter)} after, by fincore), and the sibling was the same, its locks held. The restore took
${cold.coldMs} ms, ${cold.warmMs} ms with a warm cache: for images this small the disk does not show. A desktop's images
are read once from front to back, so a cold restore is longer by their size over the disk's speed.

## Do generations grow?

No. Each generation was dumped from the sibling that the one before gave, ${generations.length} times:

${table(
  ["generation", "memory pages", "all images", "its own layer", "dump", "restore"],
  generations.map(({ pages, images, upper, dumpMs, restoreMs }, index) => [
    String(index + 1),
    kib(pages),
    `${images} B`,
    kib(upper),
    `${dumpMs} ms`,
    `${restoreMs} ms`,
  ]),
)}
A generation adds one layer with what was written since, and some ${growth(generations)} bytes of images, which name one
more layer in the root's mount options. Those options have a bound of their own: one page, 4096 bytes, for all paths.
`;
}

const LOCK_NAMES: Readonly<Record<string, string>> = {
  posix: "POSIX (fcntl F_SETLK)",
  ofd: "open file description (F_OFD_SETLK)",
  flock: "BSD (flock)",
};

const CLOCK_NAMES: Readonly<Record<string, string>> = {
  realtime: "CLOCK_REALTIME",
  monotonic: "CLOCK_MONOTONIC",
  boottime: "CLOCK_BOOTTIME",
  "timer-realtime": "timerfd on CLOCK_REALTIME",
  "timer-monotonic": "timerfd on CLOCK_MONOTONIC",
  "timer-boottime": "timerfd on CLOCK_BOOTTIME",
};

function growth(chain: AnswersRecord["generations"]): number {
  const [first, last] = [chain[0], chain.at(-1)];
  return Math.round(((last?.images ?? 0) - (first?.images ?? 0)) / Math.max(1, chain.length - 1));
}

function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`;
}
