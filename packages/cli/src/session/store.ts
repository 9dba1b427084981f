import { randomBytes } from "node:crypto";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, DrumsError, EXIT } from "../errors.js";
import { type Home, readJsonFile, writeJsonFile } from "../home.js";
import { type Journal, openJournal, type Resource, readJournal } from "./journal.js";
import { type SessionRecord, sessionRecordSchema } from "./record.js";

/** The files of one session, `sessions/<id>/`. */
export interface SessionFolder {
  readonly id: string;
  readonly path: string;
  /** Holds the two folders below; a mount of its own where the session's upper has a size. */
  readonly stack: string;
  /** The overlay's writable layer and its work folder; both belong to the session, and what they hold is its own. */
  readonly upper: string;
  readonly work: string;
  /** Empty folder on which private mount namespaces put their mount points; on the host it stays empty. */
  readonly scratch: string;
  /** CRIU's own folder at a restore: log, pid file. */
  readonly restore: string;
  readonly journal: Journal;
  held(): Promise<Resource[]>;
  read(): Promise<SessionRecord>;
  write(record: SessionRecord): Promise<void>;
}

/** The folder of a session by its id. Touches no file. Throws DrumsError BAD_NAME. */
export function sessionFolder(home: Home, id: string): SessionFolder {
  const path = home.entry("sessions", id);
  const [journal, record] = [join(path, "journal.jsonl"), join(path, "session.json")];
  return {
    id,
    path,
    stack: join(path, "stack"),
    upper: join(path, "stack/upper"),
    work: join(path, "stack/work"),
    scratch: join(path, "scratch"),
    restore: join(path, "restore"),
    journal: openJournal(journal),
    held: () => readJournal(journal),
    read: () => readJsonFile(record, sessionRecordSchema),
    write: (value) => writeJsonFile(record, value),
  };
}

/** Makes the folder of a new session under an id of its own, such as `openbox-3fa94c1d`. */
export async function createSessionFolder(home: Home, prefix: string): Promise<SessionFolder> {
  for (;;) {
    const folder = sessionFolder(home, `${prefix}-${randomBytes(4).toString("hex")}`);
    try {
      await mkdir(folder.path, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) === "EEXIST") continue;
      throw error;
    }
    await mkdir(folder.scratch);
    await mkdir(folder.restore);
    return folder;
  }
}

/** What {@link createSessionFolder} gives; whatever else lies there is not ours. */
const SESSION_ID = /^[a-z0-9][a-z0-9-]*-[0-9a-f]{8}$/;

/** The ids of all sessions that have a folder, in order. */
export async function listSessionIds(home: Home): Promise<string[]> {
  try {
    return (await readdir(home.sessions)).filter((name) => SESSION_ID.test(name)).sort();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** Finds a session by its id or by a beginning of it that only one session has. */
export async function findSession(home: Home, name: string): Promise<SessionFolder> {
  const ids = await listSessionIds(home);
  const [match, ...others] = ids.includes(name) ? [name] : ids.filter((id) => id.startsWith(name));
  if (match !== undefined && name !== "" && others.length === 0) return sessionFolder(home, match);
  throw new DrumsError({
    code: "NO_SESSION",
    exitCode: EXIT.usage,
    what: `no session ${JSON.stringify(name)}`,
    where: home.sessions,
    why: others.length > 0 ? `it could be ${[match, ...others].join(", ")}` : "none has that id",
    hint: "`drums ps` lists the sessions",
  });
}
