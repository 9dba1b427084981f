import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { type dump_stats_entry, stats_entrySchema } from "../gen/stats_pb.js";

/** criu/include/magic.h: a service image's common magic, and that of statistics. */
const IMG_SERVICE_MAGIC = 0x55105940;
const STATS_MAGIC = 0x57093306;
const HEADER_BYTES = 12;

/** Times of a dump as CRIU took them, in milliseconds, and the pages it wrote. */
export interface DumpStats {
  /** From the first task stopped to the last task running again. */
  readonly frozenMs: number;
  readonly freezingMs: number;
  readonly memoryDumpMs: number;
  readonly memoryWriteMs: number;
  readonly pagesWritten: number;
}

/** Parses a stats-dump image: two magic numbers, a length, one message. Undefined for anything else. */
export function parseDumpStats(image: Buffer): DumpStats | undefined {
  if (image.length < HEADER_BYTES) return undefined;
  if (image.readUInt32LE(0) !== IMG_SERVICE_MAGIC || image.readUInt32LE(4) !== STATS_MAGIC) return undefined;
  const bytes = image.subarray(HEADER_BYTES, HEADER_BYTES + image.readUInt32LE(8));
  const { dump } = fromBinary(stats_entrySchema, bytes);
  return dump === undefined ? undefined : toMilliseconds(dump);
}

/** The statistics that a dump left in its work folder, or undefined where there are none. */
export async function readDumpStats(folder: string): Promise<DumpStats | undefined> {
  const image = await readFile(join(folder, "stats-dump")).catch(() => undefined);
  return image === undefined ? undefined : parseDumpStats(image);
}

function toMilliseconds(entry: dump_stats_entry): DumpStats {
  return {
    frozenMs: entry.frozenTime / 1000,
    freezingMs: entry.freezingTime / 1000,
    memoryDumpMs: entry.memdumpTime / 1000,
    memoryWriteMs: entry.memwriteTime / 1000,
    pagesWritten: Number(entry.pagesWritten),
  };
}
