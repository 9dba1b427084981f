import { z } from "zod";
import { decimal, fileIdentity, monotonic, namespaceIds, record, sighting } from "./common.js";

/** audit.json: the audit before the dump. */
export const auditRecord = record({
  verdict: z.enum(["pass", "refuse"]),
  durationMs: z.number().nonnegative(),
  findings: z.array(z.record(z.string(), z.unknown())),
});

/** dump.json: the dump and what became of the original. */
export const dumpRecord = record({
  criu: z.object({ version: z.string(), source: z.string(), digest: z.string() }),
  /** What the call was given. */
  options: z.record(z.string(), z.unknown()),
  startedMs: monotonic,
  endedMs: monotonic,
  report: z.object({ frozenMs: z.number(), totalMs: z.number(), bytes: z.number() }),
  upper: z.object({ bytes: z.number(), reflink: z.boolean() }),
  /** Init of the original, looked for after the dump. */
  original: sighting,
});

/** siblings/N/restore.json */
export const restoreRecord = record({
  /** Host pid and start time of the sibling's init. */
  pid: z.int().positive(),
  startTime: decimal,
  startedMs: monotonic,
  endedMs: monotonic,
  criu: z.string(),
});

/** siblings/N/namespaces.json */
export const namespacesRecord = record({ namespaces: namespaceIds });

/** siblings/N/typed.json: what was typed into this one, and the application's own effect. */
export const typedRecord = record({
  /** All that the effect must hold: what was typed before the dump, if it is part of it, and this sibling's sentence. */
  sentence: z.string(),
  /** Where the effect was read: a path inside the session, or the window's title. */
  path: z.string(),
  /** What was read there; null where there is nothing. */
  content: z.string().nullable(),
});

/** together.json: one look at the inits of the original and of all siblings. */
export const togetherRecord = record({
  observedMs: monotonic,
  original: sighting,
  siblings: z.array(sighting.extend({ sibling: z.int().positive() })),
});

/** original/after.json: the original, after its siblings were typed into. */
export const originalRecord = record({
  init: sighting,
  /** Read back from the file that held it before. */
  token: z.string(),
  marker: z.string(),
  /** The place where the siblings' effect was read. */
  typedPath: z.string(),
  typedContent: z.string().nullable(),
});

/** teardown.json: what was looked for after the end and still found. All empty is what is wanted. */
export const teardownRecord = record({
  mounts: z.array(z.string()),
  loops: z.array(z.string()),
  processes: z.array(z.string()),
  daemons: z.array(z.string()),
  sockets: z.array(z.string()),
  cgroups: z.array(z.string()),
  folders: z.array(z.string()),
  /** The host's system bus socket at the end. */
  hostSocket: fileIdentity.nullable(),
});
