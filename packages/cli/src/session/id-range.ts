import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DrumsError, EXIT } from "../errors.js";
import type { Home } from "../home.js";

/** Ids of one session's user namespace: inside 0 … 65535. */
export const RANGE_SIZE = 65536;
/** Far above the ids that hosts and their /etc/subuid give out; the last range ends below 2^32 - 2^28. */
const FIRST_BASE = 0x1000_0000;
const LAST_BASE = 0xefff_0000;

/**
 * The first range that no session and no checkpoint of this home uses. A checkpoint's siblings keep its range:
 * the files of their layers are owned by it. Call it, and record what it gives, under the home's lock.
 * @throws DrumsError ID_RANGES_EXHAUSTED
 */
export async function nextIdBase(home: Home): Promise<number> {
  const used = new Set([
    ...(await basesIn(home.sessions, "session.json")),
    ...(await basesIn(home.checkpoints, "checkpoint.json")),
  ]);
  for (let base = FIRST_BASE; base <= LAST_BASE; base += RANGE_SIZE) if (!used.has(base)) return base;
  throw new DrumsError({
    code: "ID_RANGES_EXHAUSTED",
    exitCode: EXIT.blocker,
    what: "every id range for user namespaces is in use",
    where: home.path,
    why: `${used.size} sessions and checkpoints hold one each`,
    hint: "remove sessions or checkpoints with `drums rm`",
  });
}

/** The ranges that records name. Read as text: a record of another version still holds its range. */
async function basesIn(folder: string, file: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  const texts = names.map((name) => readFile(join(folder, name, file), "utf8").catch(() => ""));
  return (await Promise.all(texts)).flatMap((text) =>
    [...text.matchAll(/"idBase":\s*(\d+)/g)].map(([, base]) => Number(base)),
  );
}
