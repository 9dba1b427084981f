import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { type ProcessStat, type ProcOptions, parseStat } from "@drums/nsexec/proc";

/*
 * Synchronous readers: a read of /proc takes some 10 µs and never waits for a device, while each trip through
 * Node's thread pool costs ten times that. An audit makes hundreds of them.
 */

const CHUNK_BYTES = 64 * 1024;
const buffer = Buffer.alloc(CHUNK_BYTES);

/** A file's text, or undefined where it is gone or closed to us. A file of /proc says its size as 0. */
export function readText(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    return readAll(fd);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** A file of /proc gives its text in pieces of at most a page; most fit the first read. */
function readAll(fd: number): string {
  const first = readSync(fd, buffer, 0, CHUNK_BYTES, null);
  if (first === 0) return "";
  const pieces: Buffer[] = [];
  for (let size = first; size > 0; size = readSync(fd, buffer, 0, CHUNK_BYTES, null))
    pieces.push(Buffer.from(buffer.subarray(0, size)));
  return Buffer.concat(pieces).toString();
}

/** A link's target, or undefined where it is gone. */
export function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The entries of a folder that are numbers; empty where it is gone. */
export function readNumbers(path: string): number[] {
  try {
    return readdirSync(path)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** /proc/PID/stat, or undefined where the process is gone. */
export function statOf(pid: number, { proc = "/proc" }: ProcOptions = {}): ProcessStat | undefined {
  const text = readText(`${proc}/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}
