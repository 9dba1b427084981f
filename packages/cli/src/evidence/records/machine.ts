import { z } from "zod";
import { monotonic, namespaceIds, record, sha256 } from "./common.js";

/** run.json: what was asked for. Written by the evidence writer as an attempt begins. */
export const runRecord = record({
  /** Version of drums. */
  drums: z.string(),
  attempt: z.int().positive(),
  startedAt: z.iso.datetime(),
  monotonicMs: monotonic,
  /** Path of the image as given. */
  image: z.string(),
  /** The sha256 the image must have; null when the caller named none. */
  expectedSha256: sha256.nullable(),
  desktop: z.string(),
  /** Which rules of readiness the desktop is judged by, and what is done in its application. */
  rules: z.enum(["default", "gnome"]),
  task: z.enum(["terminal", "writer", "browser"]),
  siblings: z.int().nonnegative().max(10_000),
  profile: z.string(),
});

/** host.json: the machine under the run. */
export const hostRecord = record({
  kernel: z.object({ release: z.string(), version: z.string(), machine: z.string() }),
  cpus: z.int().positive(),
  cpuModel: z.string(),
  memoryBytes: z.int().positive(),
  osRelease: z.record(z.string(), z.string()),
  /** Programs that the run calls; null where one is missing or does not say. */
  programs: z.array(
    z.object({ name: z.string(), path: z.string().nullable(), version: z.string().nullable() }),
  ),
  /** Namespaces of the probe's own process. */
  namespaces: namespaceIds,
  cgroupMode: z.string(),
  /** Wall clock and zone as the host tells them. */
  clock: z.object({ at: z.iso.datetime(), zone: z.string() }),
});

/** preflight.json: every package's items. */
export const preflightRecord = record({
  items: z.array(
    z.object({
      area: z.string(),
      name: z.string(),
      status: z.enum(["ok", "gap", "blocker"]),
      detail: z.string(),
      remedy: z.string().optional(),
    }),
  ),
});

const partition = z.object({
  index: z.int(),
  start: z.number(),
  bytes: z.number(),
  filesystem: z.string().nullable(),
});

/** image.json: what the image file was found to be. */
export const imageRecord = record({
  path: z.string(),
  /** Computed from the file's bytes, or from the cache for an unchanged file identity (then `cached`). */
  sha256,
  bytes: z.int().positive(),
  cached: z.boolean(),
  format: z.string(),
  /** Header fields as read. */
  header: z.record(z.string(), z.unknown()),
  table: z.enum(["gpt", "mbr", "none"]),
  partitions: z.array(partition),
  /** Index of the partition taken for the root. */
  rootPartition: z.int(),
  /** The root's journal wanted a replay. */
  needsRecovery: z.boolean(),
});

/** mount.json: how the root was mounted. */
export const mountRecord = record({
  way: z.string(),
  passedOver: z.array(z.object({ way: z.string(), reason: z.string() })),
  mountPoint: z.string(),
  device: z.string().nullable(),
  uuid: z.string().nullable(),
  journalReplayed: z.boolean(),
  /** The line of the host's /proc/self/mountinfo for `mountPoint`, as it stood. */
  mountinfo: z.string(),
});

/** layers.json: what lies above the root, and what the root itself lacks. */
export const layersRecord = record({
  /** Programs looked for in the mounted root, before any layer. */
  rootPrograms: z.array(z.object({ path: z.string(), found: z.boolean() })),
  /** Top first, as in `lowerdir=`. */
  layers: z.array(
    z.object({
      name: z.string(),
      path: z.string(),
      digest: z.string(),
      files: z.int().nonnegative(),
      /** Program that this layer is there for, if any. */
      brings: z.array(z.string()),
      debs: z.array(z.object({ package: z.string(), version: z.string(), expectedSha256: sha256, sha256 })),
    }),
  ),
});
