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
  "token.json": tokenRecord,
  "marker.json": markerRecord,
  "processes.json": processesRecord,
  "audit.json": auditRecord,
  "dump.json": dumpRecord,
  "together.json": togetherRecord,
  "original/after.json": originalRecord,
  "parity.json": parityRecord,
  "teardown.json": teardownRecord,
  "claims.json": claimsRecord,
} as const;

/** Records in the folder of each sibling, `siblings/N/`. */
export const SIBLING_RECORDS = {
  "restore.json": restoreRecord,
  "token.json": tokenRecord,
  "marker.json": markerRecord,
  "processes.json": processesRecord,
  "facts.json": factsRecord,
  "bus.json": busRecord,
  "namespaces.json": namespacesRecord,
  "typed.json": typedRecord,
} as const;

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

/** Name of any record with a schema. */
export type RecordName = FixedRecordName | `siblings/${number}/${SiblingRecordName}`;

type SchemaOf<N extends RecordName> = N extends FixedRecordName
  ? Fixed[N]
  : N extends `siblings/${number}/${infer S extends SiblingRecordName}`
    ? OfSibling[S]
    : never;

/** What a record is written from; the writer adds the version. Bigints are welcome where a kernel number is kept. */
export type RecordInput<N extends RecordName> = Omit<z.input<SchemaOf<N>>, "version">;

/** What reading a record gives. */
export type RecordValue<N extends RecordName> = z.output<SchemaOf<N>>;
export type FixedValue<N extends FixedRecordName> = z.output<Fixed[N]>;
export type SiblingValue<N extends SiblingRecordName> = z.output<OfSibling[N]>;
