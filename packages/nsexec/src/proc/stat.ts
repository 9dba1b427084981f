import { malformed, type Pid, type ProcOptions, readProcFile, toInteger } from "./read.js";

/** The fields of /proc/PID/stat that are used here (proc_pid_stat(5)). */
export interface ProcessStat {
  readonly pid: number;
  /** At most 15 bytes, and any characters at all, parentheses and newlines too. */
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  /** Since boot, in clock ticks. With the pid it identifies a process. */
  readonly startTime: bigint;
}

/** Parses the text of a stat file. @throws NsexecError code PROC_FORMAT */
export function parseStat(text: string): ProcessStat {
  // No later field has parentheses, so the last one closes the name.
  const open = text.indexOf(" (");
  const close = text.lastIndexOf(") ");
  if (open < 1 || close < open) throw malformed("stat", text);
  const [state, ppid, pgrp, session, ...rest] = text
    .slice(close + 2)
    .trimEnd()
    .split(" ");
  const startTime = rest[15]; // field 22 of the line, the state being field 3
  if (state === undefined || startTime === undefined || !/^\d+$/.test(startTime))
    throw malformed("stat", text);
  return {
    pid: toInteger(text.slice(0, open), "stat", text),
    name: text.slice(open + 2, close),
    state,
    ppid: toInteger(ppid, "stat", text),
    pgrp: toInteger(pgrp, "stat", text),
    session: toInteger(session, "stat", text),
    startTime: BigInt(startTime),
  };
}

/** Reads /proc/PID/stat. */
export async function readStat(pid: Pid, options: ProcOptions = {}): Promise<ProcessStat> {
  return parseStat(await readProcFile(pid, "stat", options));
}

/** When a process started, in clock ticks since boot: with the pid, its identity. */
export async function readStartTime(pid: Pid, options: ProcOptions = {}): Promise<bigint> {
  return (await readStat(pid, options)).startTime;
}
