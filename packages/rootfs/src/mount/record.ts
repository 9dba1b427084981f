import { readFile } from "node:fs/promises";
import { z } from "zod";
import { systemCode } from "../errors.js";
import type { RootFolder } from "./layout.js";

export const waySchema = z.enum(["folder", "erofs-file", "raw-loop", "nbd", "fuse-export", "nbd-fuse"]);

/** How an image's disk becomes something that the kernel can mount. */
export type Way = z.infer<typeof waySchema>;

const daemonSchema = z.object({ pid: z.number(), startTime: z.string() });

const partitionSchema = z.object({
  index: z.number(),
  start: z.number(),
  bytes: z.number(),
  filesystem: z.string(),
  label: z.string(),
  reason: z.string(),
});

const rootRecordSchema = z.object({
  version: z.literal(1),
  id: z.string(),
  image: z.string(),
  identity: z.string(),
  /** Only "mounted" is whole. The others are seen by a second process only after a crash. */
  stage: z.enum(["acquiring", "mounted", "releasing"]),
  holders: z.array(z.string()),
  way: waySchema.optional(),
  passedOver: z.array(z.object({ way: waySchema, reason: z.string() })),
  partition: partitionSchema.optional(),
  /** The block device that is mounted; for a folder the folder. */
  device: z.string().optional(),
  /** What serves the disk to the kernel. */
  daemon: daemonSchema.optional(),
  /** What serves that daemon, where it is not the one that reads the image. */
  server: daemonSchema.optional(),
  journalReplayed: z.boolean(),
  uuid: z.string(),
});

/** What is written down about a root, in `root.json` of its folder. */
export type RootRecord = z.infer<typeof rootRecordSchema>;

/**
 * Reads a root's record: undefined where there is none, "unreadable" where it is spoilt or of another
 * version. Never throws for its content: whoever meets a spoilt record has to be able to clear it.
 */
export async function readRecord(folder: RootFolder): Promise<RootRecord | "unreadable" | undefined> {
  try {
    return rootRecordSchema.parse(JSON.parse(await readFile(folder.record, "utf8")));
  } catch (error) {
    return systemCode(error) === "ENOENT" ? undefined : "unreadable";
  }
}
