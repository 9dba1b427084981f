import { readdir } from "node:fs/promises";
import { NsexecError } from "../errors.js";
import { type NamespaceId, readNamespace, sameNamespace } from "./namespaces.js";
import { isGone, type ProcOptions, readProcFile } from "./read.js";
import { readStat } from "./stat.js";
import { readStatus } from "./status.js";

/** What a list of processes says of each. */
export interface ProcessSummary {
  /** In the pid namespace of the /proc that is read. */
  readonly pid: number;
  /** In its own, innermost pid namespace. */
  readonly innerPid: number;
  readonly ppid: number;
  readonly name: string;
  /** The arguments; empty for kernel threads and zombies. A process may write here what it likes. */
  readonly cmdline: readonly string[];
  /** The real uid, as the reader's user namespace sees it. */
  readonly uid: number;
  /** Clock ticks since boot. */
  readonly startTime: bigint;
  /** One letter, as in {@link ProcessStatus}. */
  readonly state: string;
}

/** Every process that /proc shows, by pid. One that ends meanwhile is left out. */
export async function listProcesses(options: ProcOptions = {}): Promise<ProcessSummary[]> {
  return summarise(await listPids(options), options);
}

/**
 * Every process in the pid namespace of `initPid`, and in those nested in it, by pid.
 * @throws NsexecError code PROCESS_GONE
 */
export async function listPidNamespace(
  initPid: number,
  options: ProcOptions = {},
): Promise<ProcessSummary[]> {
  const wanted = await orGone(readNamespace(initPid, "pid", options));
  if (wanted === undefined) throw processGone(initPid);
  const places = await Promise.all((await listPids(options)).map((pid) => readPlace(pid, options)));
  const byPid = new Map(places.filter((place) => place !== undefined).map((place) => [place.pid, place]));
  return summarise(
    [...byPid.keys()].filter((pid) => isWithin(wanted, pid, byPid)),
    options,
  );
}

// A nested namespace's first process descends from a member; /proc does not show the nesting itself.
function isWithin(wanted: NamespaceId, pid: number, byPid: ReadonlyMap<number, Place>): boolean {
  for (let at = byPid.get(pid); at !== undefined; at = byPid.get(at.ppid)) {
    if (at.namespace && sameNamespace(at.namespace, wanted)) return true;
  }
  return false;
}

/** The arguments of a process, from /proc/PID/cmdline. */
export function parseCmdline(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\0") ? text.slice(0, -1) : text).split("\0");
}

/** The error for a process that has ended, or whose pid has come to mean another. */
export function processGone(pid: number): NsexecError {
  return new NsexecError("PROCESS_GONE", `process ${pid} is gone`, {
    hint: "It ended, or its pid now belongs to another process: look at its log for the reason.",
  });
}

async function listPids({ proc = "/proc" }: ProcOptions): Promise<number[]> {
  const names = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  return names.map(Number).sort((a, b) => a - b);
}

/** Where a process stands in the tree; without a namespace where the kernel does not let us see it. */
interface Place {
  readonly pid: number;
  readonly ppid: number;
  readonly namespace: NamespaceId | undefined;
}

async function readPlace(pid: number, options: ProcOptions): Promise<Place | undefined> {
  const [stat, namespace] = await Promise.all([
    orGone(readStat(pid, options)),
    orGone(readNamespace(pid, "pid", options), isClosedToUs),
  ]);
  return stat === undefined ? undefined : { pid, ppid: stat.ppid, namespace };
}

// ptrace(2)'s access check: the process has a capability that we lack, as the machine's own init may.
function isClosedToUs(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === "EACCES" || code === "EPERM";
}

async function summarise(pids: readonly number[], options: ProcOptions): Promise<ProcessSummary[]> {
  const summaries = await Promise.all(pids.map((pid) => orGone(readSummary(pid, options))));
  return summaries.filter((summary) => summary !== undefined);
}

async function readSummary(pid: number, options: ProcOptions): Promise<ProcessSummary> {
  const [status, stat, cmdline] = await Promise.all([
    readStatus(pid, options),
    readStat(pid, options),
    readProcFile(pid, "cmdline", options),
  ]);
  return {
    pid,
    innerPid: status.nspid.at(-1) ?? pid,
    ppid: status.ppid,
    name: status.name,
    cmdline: parseCmdline(cmdline),
    uid: status.uids.real,
    startTime: stat.startTime,
    state: status.state,
  };
}

async function orGone<T>(reading: Promise<T>, alsoIf = (_: unknown) => false): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isGone(error) || alsoIf(error)) return undefined;
    throw error;
  }
}
