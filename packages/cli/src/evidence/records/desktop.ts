import type { BusFacts } from "@drums/readiness";
import { z } from "zod";
import { monotonic, programRun, record, sha256, sighting } from "./common.js";
import { rulesSchema } from "./session.js";

const busFacts = z.object({
  connected: z.boolean(),
  shellOwned: z.boolean(),
  overviewActive: z.boolean().exactOptional(),
  monitors: z.number().exactOptional(),
  sessionRunning: z.boolean().exactOptional(),
  locked: z.boolean().exactOptional(),
  mute: z.array(z.object({ name: z.string(), forMs: z.number() })).readonly(),
  runningForMs: z.number().exactOptional(),
}) satisfies z.ZodType<BusFacts>;

/** shell.json: what GNOME says of itself on its session bus. Only of a desktop that has one. */
export const shellRecord = record({ bus: busFacts });

/** application.json: the program that is typed into, opened before the dump. */
export const applicationRecord = record({
  name: z.string(),
  /** Null where the desktop's own programs opened it. */
  argv: z.array(z.string()).nullable(),
  /** Name of the process that owns its window. */
  process: z.string(),
  /** The rules of the desktop with the application's window. */
  rules: rulesSchema,
  /** From its start to its window being usable, in milliseconds; null where the desktop opened it. */
  openedMs: z.number().nonnegative().nullable(),
  /** Where the effect of typing is read from outside: a path in the session, or the window's title. */
  place: z.string(),
  /** What was there before the dump; null where nothing was. */
  content: z.string().nullable(),
  /** What was typed before the dump and lives in the application's memory. */
  remembered: z.string(),
});

/** locks.json: locks that the application holds on a file, as the kernel lists them and as another program meets them. */
export const locksRecord = record({
  path: z.string(),
  /** Of the file, decimal, as the session's root shows it. */
  inode: z.string(),
  /** Raw /proc/locks as a program of the session read it. */
  procLocks: z.string(),
  /** A program that tried to lock the file for writing without waiting, and one more file as a control. */
  attempt: z.object({ ...programRun, stdout: z.string(), control: z.string() }),
});

/** documents.json: what was saved by keyboard and read from outside; the files lie beside it as document.FORMAT. */
export const documentsRecord = record({
  documents: z.array(
    z.object({ format: z.enum(["odt", "docx"]), path: z.string(), bytes: z.int().nonnegative(), sha256 }),
  ),
});

/** twin/together.json: the original and a second session of the same image at one moment. */
export const twinRecord = record({ observedMs: monotonic, original: sighting, twin: sighting });
