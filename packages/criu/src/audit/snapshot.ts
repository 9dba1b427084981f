import { type MountInfo, parseMountinfo } from "./mountinfo-tmp.js";
import { type ProcOptions, readLink, readNumbers, readStat, readText, type TaskStat } from "./proc.js";
import type { FindingProcess } from "./rules.js";

/** A process as the audit sees it. */
export interface Task extends FindingProcess {
  readonly stat: TaskStat;
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

const NAMESPACES = ["pid", "pid_for_children", "mnt", "net", "user", "ipc", "uts", "time", "cgroup"];

/** Reads a session's processes, descriptors and mount tables. A process that ends meanwhile is left out. */
export function takeSnapshot(initPid: number, { proc = "/proc" }: ProcOptions = {}): Snapshot {
  const stats = readNumbers(proc)
    .map((pid) => readStat(pid, { proc }))
    .filter((stat) => stat !== undefined);
  const members = treeOf(initPid, stats);
  const tree = members.map((stat) => readTask(stat, proc)).filter((task) => task !== undefined);
  const inTree = new Set(members.map(({ pid }) => pid));
  return {
    proc,
    initPid,
    tree,
    outsiders: outsidersOf(tree[0], { stats, inTree, proc }),
    mounts: mountTables(tree, proc),
    livePids: new Set(stats.map(({ pid }) => pid)),
  };
}

/** The mount table of a session's init alone. */
export function readMounts(initPid: number, { proc = "/proc" }: ProcOptions = {}): MountInfo[] {
  return parseMountinfo(readText(`${proc}/${initPid}/mountinfo`) ?? "");
}

function treeOf(root: number, stats: readonly TaskStat[]): TaskStat[] {
  const children = new Map<number, TaskStat[]>();
  for (const stat of stats) children.set(stat.ppid, [...(children.get(stat.ppid) ?? []), stat]);
  const found = stats.filter(({ pid }) => pid === root);
  for (const { pid } of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function readTask(stat: TaskStat, proc: string): Task | undefined {
  const folder = `${proc}/${stat.pid}`;
  const status = readText(`${folder}/status`);
  if (status === undefined) return undefined;
  const innerPid = /^NSpid:.*?(\d+)$/m.exec(status)?.[1];
  const namespaces = NAMESPACES.map((kind) => [kind, readLink(`${folder}/ns/${kind}`) ?? ""]);
  return {
    pid: stat.pid,
    name: stat.name,
    ...(innerPid === undefined ? {} : { innerPid: Number(innerPid) }),
    stat,
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
  { stats, inTree, proc }: { stats: readonly TaskStat[]; inTree: ReadonlySet<number>; proc: string },
): FindingProcess[] {
  if (init === undefined) return [];
  return stats
    .filter(({ pid }) => !inTree.has(pid) && readLink(`${proc}/${pid}/ns/pid`) === init.namespaces.pid)
    .map(({ pid, name }) => ({ pid, name }));
}

function mountTables(tree: readonly Task[], proc: string): Map<string, MountInfo[]> {
  const tables = new Map<string, MountInfo[]>();
  for (const { pid, namespaces } of tree)
    if (!tables.has(namespaces.mnt ?? "")) tables.set(namespaces.mnt ?? "", readMounts(pid, { proc }));
  return tables;
}
