import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { z } from "zod";
import { codeOf, DrumsError, EXIT, messageOf } from "./errors.js";
import { jsonText } from "./json.js";

/** Where drums keeps its things when neither `--home` nor DRUMS_HOME says otherwise. */
export const DEFAULT_HOME = "/var/lib/drums";

const ROOMS = ["images", "sessions", "checkpoints", "evidence", "roots", "layers", "criu", "cache"] as const;

/** A folder of DRUMS_HOME. */
export type Room = (typeof ROOMS)[number];

/** The folders of one DRUMS_HOME, as absolute paths. */
export interface Home extends Readonly<Record<Room, string>> {
  readonly path: string;
  /** Folder of one session, checkpoint, evidence run …; the name is checked, so it cannot leave its room. */
  entry(room: Room, name: string): string;
}

/** Paths of a DRUMS_HOME. Touches no file; `createHome` makes the folders. */
export function homeAt(path: string): Home {
  const root = resolve(path);
  const rooms = Object.fromEntries(ROOMS.map((room) => [room, join(root, room)])) as Record<Room, string>;
  return { ...rooms, path: root, entry: (room, name) => join(root, room, checkedName(name)) };
}

/**
 * The home that a command works in.
 * @param options.home  the `--home` option; wins over the environment
 * @param options.env   default `process.env`; its DRUMS_HOME counts when not empty
 */
export function findHome({
  home,
  env = process.env,
}: {
  readonly home?: string | undefined;
  readonly env?: NodeJS.ProcessEnv;
} = {}): Home {
  return homeAt(home ?? (env.DRUMS_HOME || DEFAULT_HOME));
}

/** Makes the folders that are missing, readable by their owner alone: sessions hold people's data. */
export async function createHome(home: Home): Promise<Home> {
  if (`${home.path}/`.startsWith("/run/")) throw hiddenHome(home);
  try {
    for (const room of ROOMS) await mkdir(home[room], { recursive: true, mode: 0o700 });
    return home;
  } catch (cause) {
    throw new DrumsError({
      code: "HOME_UNUSABLE",
      exitCode: EXIT.blocker,
      what: "cannot make the folders of DRUMS_HOME",
      where: home.path,
      why: messageOf(cause),
      hint: "run as root, or name a writable folder by DRUMS_HOME or --home",
      cause,
    });
  }
}

/** A name that is safe as one path segment: letters, digits, `.`, `_`, `-`; starts with a letter or digit. */
export function checkedName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw new DrumsError({
    code: "BAD_NAME",
    exitCode: EXIT.usage,
    what: `${JSON.stringify(name)} is not a usable name`,
    hint: "use letters, digits, dot, underscore and dash, at most 128, starting with a letter or digit",
  });
}

/**
 * Writes a JSON file so that a reader, or a crash at any moment, meets the old file or the new, never half of one:
 * a temporary file beside it, fsync, rename, fsync of the folder (rename(2) alone does not promise durability).
 */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(jsonText(value));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (cause) {
    await rm(temporary, { force: true });
    throw new DrumsError({
      code: "RECORD_WRITE",
      what: "cannot write a record",
      where: path,
      why: messageOf(cause),
      hint: codeOf(cause) === "ENOSPC" ? "free space on that filesystem and try again" : "check the folder",
      cause,
    });
  }
}

/** Flushes a folder's entries to disk, so that a file just made or renamed in it survives a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Reads a JSON file that a zod schema describes.
 * @throws DrumsError RECORD_MISSING, RECORD_NOT_JSON, RECORD_INVALID (which field and why), RECORD_READ
 */
export async function readJsonFile<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const missing = codeOf(cause) === "ENOENT";
    throw new DrumsError({
      code: missing ? "RECORD_MISSING" : "RECORD_READ",
      what: missing ? "a record is missing" : "cannot read a record",
      where: path,
      why: messageOf(cause),
      cause,
    });
  }
  return parseJsonRecord(text, schema, path);
}

/** Parses the text of a record; `where` names its file in the error. Throws as `readJsonFile` does. */
export function parseJsonRecord<T>(text: string, schema: z.ZodType<T>, where: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new DrumsError({
      code: "RECORD_NOT_JSON",
      what: "a record is not JSON",
      where,
      why: messageOf(cause),
      hint: "it was cut short or changed by hand; put it back or remove what it describes with `drums gc`",
      cause,
    });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new DrumsError({
    code: "RECORD_INVALID",
    what: "a record does not have the shape this version of drums reads",
    where,
    why: parsed.error.issues.map(issueText).join("; "),
    hint: "read it with the version of drums that wrote it",
    cause: parsed.error,
  });
}

function issueText(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/** CRIU works with a /run of its own, in which a home there would be out of sight. */
function hiddenHome({ path }: Home): DrumsError {
  return new DrumsError({
    code: "HOME_UNUSABLE",
    exitCode: EXIT.blocker,
    what: "DRUMS_HOME cannot lie below /run",
    where: path,
    why: "checkpoints and restores mount a private /run over it",
    hint: "name a folder elsewhere by DRUMS_HOME or --home",
  });
}
