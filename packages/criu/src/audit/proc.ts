import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";

/*
 * Synchronous readers: a read of /proc takes some 10 µs and never waits for a device, while each trip through
 * Node's thread pool costs ten times that. An audit makes hundreds of them.
 */

/** Where the /proc to read is mounted. */
export interface ProcOptions {
  /** Default "/proc". */
  readonly proc?: string;
}

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

/** Fields of /proc/PID/stat, proc_pid_stat(5). */
export interface TaskStat {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly processGroup: number;
  readonly session: number;
  /** Clock ticks after boot; with the pid it identifies a process. */
  readonly startTime: bigint;
}

/** The name stands in parentheses and may itself hold any character, so the last one ends it. */
export function parseStat(text: string): TaskStat | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(" ");
  return {
    pid: Number(text.slice(0, open)),
    name: text.slice(open + 1, close),
    state: fields[0] ?? "?",
    ppid: Number(fields[1]),
    processGroup: Number(fields[2]),
    session: Number(fields[3]),
    startTime: BigInt(fields[19] ?? 0),
  };
}

export function readStat(pid: number, { proc = "/proc" }: ProcOptions = {}): TaskStat | undefined {
  const text = readText(`${proc}/${pid}/stat`);
  return text === undefined ? undefined : parseStat(text);
}

/** Clock ticks after boot at which a process started, or 0 where it is gone. */
export function readStartTime(pid: number, options: ProcOptions = {}): bigint {
  return readStat(pid, options)?.startTime ?? 0n;
}
