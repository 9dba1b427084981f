import { type MountInfo, type ProcessStat, type ProcOptions, parseMountinfo } from "@drums/nsexec/proc";
import { readLink, readNumbers, readText, statOf } from "./proc.js";
import type { FindingProcess } from "./rules.js";

/** A process as the audit sees it. */
export interface Task extends FindingProcess {
  readonly stat: ProcessStat;
  /** Cpus_allowed_list of its status, such as `0-3`; empty where it is not known. */
  readonly processors: string;
  /** prctl(2), PR_SET_TIMERSLACK; empty where it is not known. */
  readonly timerSlackNs: string;
  /** Pid of the tracer, 0 for none. */
  readonly tracer: number;
  /** Target of each link under ns/, such as `pid:[4026531836]`. */
  readonly namespaces: Readonly<Record<string, string>>;
  readonly descriptors: readonly Descriptor[];
}

/** An open descriptor: its number and what its link says. */
export interface Descriptor {
  readonly fd: number;
  readonly target: string;
}

/** What one pass over /proc found of a session. */
export interface Snapshot {
  readonly proc: string;
  readonly initPid: number;
  /** init and its descendants. */
  readonly tree: readonly Task[];
  /** Processes in the session's pid namespace (or below) that do not descend from init. */
  readonly outsiders: readonly FindingProcess[];
  /** The mount table of each mount namespace in the tree, by the namespace's link. */
  readonly mounts: ReadonlyMap<string, readonly MountInfo[]>;
  /** Every live pid of the host. */
  readonly livePids: ReadonlySet<number>;
}

const NAMESPACES = [
  "pid",
  "pid_for_children",
  "mnt",
  "net",
  "user",
  "ipc",
  "uts",
  "time",
  "time_for_children",
  "cgroup",
];

/** Reads a session's processes, descriptors and mount tables. A process that ends meanwhile is left out. */
export function takeSnapshot(initPid: number, { proc = "/proc" }: ProcOptions = {}): Snapshot {
  const pids = treeOf(initPid, proc);
  const tree = pids.map((pid) => readTask(pid, proc)).filter((task) => task !== undefined);
  const livePids = new Set(readNumbers(proc));
  return {
    proc,
    initPid,
    tree,
    outsiders: outsidersOf(tree[0], { livePids, inTree: new Set(pids), proc }),
    mounts: mountTables(tree, proc),
    livePids,
  };
}

/** The mount table of a session's init alone. */
export function readMounts(initPid: number, { proc = "/proc" }: ProcOptions = {}): MountInfo[] {
  return parseMountinfo(readText(`${proc}/${initPid}/mountinfo`) ?? "");
}

/** proc(5): the children of a task are listed for each of its threads. */
function treeOf(root: number, proc: string): number[] {
  const found = [root];
  for (const pid of found)
    for (const tid of readNumbers(`${proc}/${pid}/task`))
      found.push(
        ...(readText(`${proc}/${pid}/task/${tid}/children`) ?? "").split(" ").filter(Boolean).map(Number),
      );
  return found;
}

function readTask(pid: number, proc: string): Task | undefined {
  const stat = statOf(pid, { proc });
  const folder = `${proc}/${pid}`;
  const status = readText(`${folder}/status`);
  if (stat === undefined || status === undefined) return undefined;
  const innerPid = /^NSpid:.*?(\d+)$/m.exec(status)?.[1];
  const namespaces = NAMESPACES.map((kind) => [kind, readLink(`${folder}/ns/${kind}`) ?? ""]);
  return {
    pid,
    name: stat.name,
    ...(innerPid === undefined ? {} : { innerPid: Number(innerPid) }),
    stat,
    processors: /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? "",
    timerSlackNs: readText(`${folder}/timerslack_ns`)?.trim() ?? "",
    tracer: Number(/^TracerPid:\s*(\d+)/m.exec(status)?.[1] ?? 0),
    namespaces: Object.fromEntries(namespaces),
    descriptors: readNumbers(`${folder}/fd`).flatMap((fd) => {
      const target = readLink(`${folder}/fd/${fd}`);
      return target === undefined ? [] : [{ fd, target }];
    }),
  };
}

function outsidersOf(
  init: Task | undefined,
  { livePids, inTree, proc }: { livePids: ReadonlySet<number>; inTree: ReadonlySet<number>; proc: string },
): FindingProcess[] {
  if (init === undefined) return [];
  return [...livePids]
    .filter((pid) => !inTree.has(pid) && readLink(`${proc}/${pid}/ns/pid`) === init.namespaces.pid)
    .filter((pid) => !descendsFrom(init.pid, pid, proc))
    .map((pid) => ({ pid, name: statOf(pid, { proc })?.name ?? "?" }));
}

/** How often a line of parents is walked anew because one of them ended meanwhile. */
const WALKS = 3;

/**
 * Whether a process descends from another, by its parents as they are now: one that was forked after the tree was
 * read is no outsider, nor is one that has ended.
 */
export function descendsFrom(ancestor: number, pid: number, proc: string): boolean {
  for (let walk = 0; walk < WALKS; walk++) {
    let at = pid;
    let stat = statOf(at, { proc });
    if (stat === undefined) return true;
    while (at !== ancestor && stat !== undefined && stat.ppid > 0) {
      at = stat.ppid;
      stat = statOf(at, { proc });
    }
    if (at === ancestor) return true;
    if (stat !== undefined) return false;
  }
  return false;
}

function mountTables(tree: readonly Task[], proc: string): Map<string, MountInfo[]> {
  const tables = new Map<string, MountInfo[]>();
  for (const { pid, namespaces } of tree)
    if (!tables.has(namespaces.mnt ?? "")) tables.set(namespaces.mnt ?? "", readMounts(pid, { proc }));
  return tables;
}
