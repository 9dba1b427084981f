import { z } from "zod";

/** Version of every record's shape. A reader meets another one with RECORD_INVALID, never with a guess. */
export const RECORD_VERSION = 1;

/** A record: versioned, its fields, and `more` for facts that no claim reads. */
export function record<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({
    version: z.literal(RECORD_VERSION),
    ...shape,
    more: z.record(z.string(), z.unknown()).optional(),
  });
}

/** A kernel number that may exceed 2^53: written from a bigint, kept as a decimal string. */
export const decimal = z
  .union([z.bigint().nonnegative(), z.string().regex(/^\d+$/, "not a decimal number")])
  .transform(String);

/** SHA-256 in lower-case hexadecimal. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "not a sha256");

/** Identity of a file or namespace: device and inode together, never the inode alone. */
export const fileIdentity = z.object({ device: decimal, inode: decimal });
export type FileIdentity = z.output<typeof fileIdentity>;

/** Namespaces of a process by kind (`mnt`, `pid`, `net` …). */
export const namespaceIds = z.record(z.string(), fileIdentity);

/** CLOCK_MONOTONIC, milliseconds. */
export const monotonic = z.number().nonnegative();

/** A named check with what was seen. */
export const namedCheck = z.object({ name: z.string(), ok: z.boolean(), detail: z.string() });

/**
 * Whether a process still lived, as a fact and not as a verdict: its identity is (pid, start time),
 * and `seenStartTime` is field 22 of /proc/PID/stat at the moment of looking, null where there was no such process.
 */
export const sighting = z.object({
  pid: z.int().positive(),
  startTime: decimal,
  seenStartTime: decimal.nullable(),
});
export type Sighting = z.output<typeof sighting>;

/** A program's run: what was called and how it ended. `exitCode` is null when a signal ended it. */
export const programRun = { argv: z.array(z.string()), exitCode: z.int().nullable() };

/** One process of a session as its own pid namespace knows it. */
export const processEntry = z.object({
  /** Inner pid. */
  pid: z.int().positive(),
  name: z.string(),
  cmdline: z.array(z.string()),
  uid: z.int().nonnegative(),
});
export type ProcessEntry = z.output<typeof processEntry>;
