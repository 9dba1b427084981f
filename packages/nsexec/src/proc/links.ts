import { readlink } from "node:fs/promises";
import type { Pid, ProcOptions } from "./read.js";

/** Where a link such as /proc/PID/cwd leads, seen from the reader's root. */
export interface ProcessLink {
  readonly path: string;
  /** The file was unlinked; or its name really ends in " (deleted)", which the kernel does not tell apart. */
  readonly deleted: boolean;
}

const DELETED = " (deleted)";

/** Parses what readlink(2) gives for /proc/PID/cwd, exe or root (d_path). */
export function parseProcessLink(target: string): ProcessLink {
  const deleted = target.endsWith(DELETED);
  return { path: deleted ? target.slice(0, -DELETED.length) : target, deleted };
}

/** Reads /proc/PID/cwd, exe or root. For a kernel thread exe throws ENOENT. */
export async function readProcessLink(
  pid: Pid,
  link: "cwd" | "exe" | "root",
  options: ProcOptions = {},
): Promise<ProcessLink> {
  return parseProcessLink(await readlink(`${options.proc ?? "/proc"}/${pid}/${link}`));
}
