import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";

/** Ids of one session's user namespace: inside 0 … 65535. */
export const RANGE_SIZE = 65536;
/** Far above the ids that hosts and their /etc/subuid give out; the last range ends below 2^32 - 2^28. */
const FIRST_BASE = 0x1000_0000;
const LAST_BASE = 0xefff_0000;

/** Options of {@link nextIdBase}. */
export interface IdRangeOptions {
  /** Default "/proc". */
  readonly proc?: string;
}

/**
 * The first range that no session and no checkpoint of this home uses, nor any live process of the machine: another
 * home's sessions, or somebody else's containers. A checkpoint's siblings keep its range: the files of their layers are
 * owned by it. Call it, and record what it gives, under the home's lock.
 * @throws DrumsError ID_RANGES_EXHAUSTED
 */
export async function nextIdBase(home: Home, { proc = "/proc" }: IdRangeOptions = {}): Promise<number> {
  const used = new Set([
    ...(await basesIn(home.sessions, "session.json")),
    ...(await basesIn(home.checkpoints, "checkpoint.json")),
    ...(await liveBases(proc)),
  ]);
  for (let base = FIRST_BASE; base <= LAST_BASE; base += RANGE_SIZE) if (!used.has(base)) return base;
  throw new DrumsError({
    code: "ID_RANGES_EXHAUSTED",
    exitCode: EXIT.blocker,
    what: "every id range for user namespaces is in use",
    where: home.path,
    why: `${used.size} are held by sessions, by checkpoints and by other processes of this machine`,
    hint: "remove sessions or checkpoints with `drums rm`",
  });
}

/** What {@link assertRangeFree} may pass over. */
export interface RangeClaim {
  /** Digests of dumped uppers: who stands on one of them too is of the same family and shares the range. */
  readonly family: readonly string[];
  /** Name of the claiming record's own folder. */
  readonly except: string;
}

/** Refuses a range that a session or checkpoint of this home has and that is of another family. @throws DrumsError ID_RANGE_TAKEN */
export async function assertRangeFree(
  home: Home,
  base: number,
  { family, except }: RangeClaim,
): Promise<void> {
  const texts = [
    ...(await recordsIn(home.sessions, "session.json")),
    ...(await recordsIn(home.checkpoints, "checkpoint.json")),
  ];
  const users = texts.filter(({ folder, text }) => folder !== except && basesOf(text).includes(base));
  const strangers = users.filter(({ text }) => !family.some((digest) => text.includes(`"${digest}"`)));
  const isRange = base % RANGE_SIZE === 0 && base >= FIRST_BASE && base <= LAST_BASE;
  if (isRange && strangers.length === 0) return;
  throw new DrumsError({
    code: "ID_RANGE_TAKEN",
    exitCode: EXIT.usage,
    what: `the range of ids from ${base} cannot be used here`,
    where: home.path,
    why: isRange
      ? `it is that of ${strangers.map(({ folder }) => folder).join(", ")}`
      : "it is none that drums gives to sessions",
    hint: "remove what has the range, or import into another home (--home DIR), where it is free",
  });
}

/** The ranges that records name. Read as text: a record of another version still holds its range. */
async function basesIn(folder: string, file: string): Promise<number[]> {
  return (await recordsIn(folder, file)).flatMap(({ text }) => basesOf(text));
}

async function recordsIn(room: string, file: string): Promise<{ folder: string; text: string }[]> {
  const names = await readdir(room).catch(() => []);
  return Promise.all(
    names.map(async (folder) => ({
      folder,
      text: await readFile(join(room, folder, file), "utf8").catch(() => ""),
    })),
  );
}

function basesOf(text: string): number[] {
  return [...text.matchAll(/"idBase":\s*(\d+)/g)].map(([, base]) => Number(base));
}

/** Every range that a live process's map touches (user_namespaces(7)): the host ids are the second field. */
async function liveBases(proc: string): Promise<number[]> {
  const pids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const maps = await Promise.all(
    pids.map((pid) => readFile(join(proc, pid, "uid_map"), "utf8").catch(() => "")),
  );
  return [...new Set(maps)].flatMap((map) =>
    [...map.matchAll(/^\s*\d+\s+(\d+)\s+(\d+)$/gm)].flatMap(([, first, size]) =>
      rangesTouched(Number(first), Number(size)),
    ),
  );
}

/** None for the map of all ids, which is that of the machine itself. */
function rangesTouched(first: number, size: number): number[] {
  if (first === 0) return [];
  const lowest = Math.floor(first / RANGE_SIZE);
  const highest = Math.floor((first + size - 1) / RANGE_SIZE);
  return Array.from({ length: highest - lowest + 1 }, (_, index) => (lowest + index) * RANGE_SIZE);
}
