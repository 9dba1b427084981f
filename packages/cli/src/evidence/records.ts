/**
 * Every record that the probe writes, by name. Claims are computed from these, from the screens beside them
 * (PNG, lossless) and from events.jsonl alone.
 */
import type { z } from "zod";
import {
  auditRecord,
  dumpRecord,
  namespacesRecord,
  originalRecord,
  restoreRecord,
  teardownRecord,
  togetherRecord,
  typedRecord,
} from "./records/checkpoint.js";
import { claimsRecord } from "./records/claims.js";
import {
  applicationRecord,
  documentsRecord,
  locksRecord,
  shellRecord,
  twinRecord,
} from "./records/desktop.js";
import {
  hostRecord,
  imageRecord,
  layersRecord,
  mountRecord,
  preflightRecord,
  runRecord,
} from "./records/machine.js";
import { parityRecord } from "./records/parity.js";
import {
  busRecord,
  factsRecord,
  handshakeRecord,
  identityRecord,
  markerRecord,
  overlayRecord,
  planRecord,
  processesRecord,
  readinessRecord,
  reportRecord,
  tokenRecord,
} from "./records/session.js";

/** Records of which an attempt has one. */
export const RECORDS = {
  "run.json": runRecord,
  "host.json": hostRecord,
  "preflight.json": preflightRecord,
  "image.json": imageRecord,
  "mount.json": mountRecord,
  "layers.json": layersRecord,
  "session/plan.json": planRecord,
  "session/report.json": reportRecord,
  "session/handshake.json": handshakeRecord,
  "session/overlay.json": overlayRecord,
  "bus.json": busRecord,
  "readiness.json": readinessRecord,
  "facts.json": factsRecord,
  "shell.json": shellRecord,
  "application.json": applicationRecord,
  "locks.json": locksRecord,
  "token.json": tokenRecord,
  "identity.json": identityRecord,
  "marker.json": markerRecord,
  "processes.json": processesRecord,
  "reference/facts.json": factsRecord,
  "reference/shell.json": shellRecord,
  "audit.json": auditRecord,
  "dump.json": dumpRecord,
  "together.json": togetherRecord,
  "original/after.json": originalRecord,
  "parity.json": parityRecord,
  "teardown.json": teardownRecord,
  "claims.json": claimsRecord,
} as const;

/**
 * Records in the folder of each session beside the original: `siblings/N/`, `second/` (a sibling of a sibling), `twin/`
 * (another session of the same image). Each has those that its part of the course writes.
 */
export const SIBLING_RECORDS = {
  "audit.json": auditRecord,
  "dump.json": dumpRecord,
  "restore.json": restoreRecord,
  "token.json": tokenRecord,
  "identity.json": identityRecord,
  "marker.json": markerRecord,
  "processes.json": processesRecord,
  "facts.json": factsRecord,
  "shell.json": shellRecord,
  "locks.json": locksRecord,
  "bus.json": busRecord,
  "namespaces.json": namespacesRecord,
  "typed.json": typedRecord,
  "documents.json": documentsRecord,
  "together.json": twinRecord,
} as const;

/** Documents in the folder of a session, as they were read from outside: `document.odt`. */
export const DOCUMENT = /^document\.(odt|docx)$/;

/** Raw texts of an attempt that claims read. */
export const TEXTS = ["session/mountinfo.txt", "dump.log"] as const;

/**
 * Screens of an attempt: the two consecutive frames that readiness was judged on, the one right before the dump
 * that siblings are compared with, and the original after all was done.
 */
export const SCREENS = [
  "screens/before.png",
  "screens/before-2.png",
  "screens/reference.png",
  "original/screen.png",
] as const;

/** Screens of each sibling: as restored, and after typing. */
export const SIBLING_SCREENS = ["screen.png", "screen-typed.png"] as const;

/**
 * Names of the probe's steps in events.jsonl; those of a sibling carry its number (`restore/1`).
 * A claim whose record is missing is "failed" when its step failed, "not reached" when it never ran or was interrupted.
 */
export const STEPS = [
  "host",
  "preflight",
  "image",
  "mount",
  "layers",
  "boot",
  "bus",
  "readiness",
  "twin",
  "application",
  "token",
  "marker",
  "processes",
  "reference",
  "audit",
  "dump",
  "restore",
  "sibling",
  "together",
  "typing",
  "second",
  "original",
  "parity",
  "teardown",
] as const;
export type StepName = (typeof STEPS)[number];

type Fixed = typeof RECORDS;
type OfSibling = typeof SIBLING_RECORDS;

export type FixedRecordName = keyof Fixed;
export type SiblingRecordName = keyof OfSibling;
export type TextName = (typeof TEXTS)[number];
export type ScreenName = (typeof SCREENS)[number];
export type SiblingScreenName = (typeof SIBLING_SCREENS)[number];

/** A session beside the original: a sibling by its number, the sibling's own sibling, another of the same image. */
export type Beside = number | "second" | "twin";

/** Folder of a session beside the original. */
export type BesideFolder = `siblings/${number}` | Exclude<Beside, number>;

/** Name of any record with a schema. */
export type RecordName = FixedRecordName | `${BesideFolder}/${SiblingRecordName}`;

type SchemaOf<N extends RecordName> = N extends FixedRecordName
  ? Fixed[N]
  : N extends `${BesideFolder}/${infer S extends SiblingRecordName}`
    ? OfSibling[S]
    : never;

/** What a record is written from; the writer adds the version. Bigints are welcome where a kernel number is kept. */
export type RecordInput<N extends RecordName> = Omit<z.input<SchemaOf<N>>, "version">;

/** What reading a record gives. */
export type RecordValue<N extends RecordName> = z.output<SchemaOf<N>>;
export type FixedValue<N extends FixedRecordName> = z.output<Fixed[N]>;
/** Folder of a session beside the original. */
export function folderOf(beside: Beside): BesideFolder {
  return typeof beside === "number" ? `siblings/${beside}` : beside;
}
export type SiblingValue<N extends SiblingRecordName> = z.output<OfSibling[N]>;
