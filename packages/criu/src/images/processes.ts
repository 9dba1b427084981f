import { join } from "node:path";
import {
  type core_entry,
  core_entrySchema,
  type pstree_entry,
  pstree_entrySchema,
  task_kobj_ids_entrySchema,
} from "../gen/images_pb.js";
import { invalid, MAGIC, readImage, readNeededImage } from "./reader.js";

/** compel/include/uapi/task-state.h */
const STATES: Readonly<Record<number, ProcessState>> = { 1: "alive", 2: "dead", 3: "stopped", 6: "zombie" };

/** How a process stood at the dump. */
export type ProcessState = "alive" | "stopped" | "zombie" | "dead" | "unknown";

/** setrlimit(2): names of the limits by number. */
const LIMIT_NAMES = [
  "cpu",
  "fsize",
  "data",
  "stack",
  "core",
  "rss",
  "nproc",
  "nofile",
  "memlock",
  "as",
  "locks",
  "sigpending",
  "msgqueue",
  "nice",
  "rtprio",
  "rttime",
] as const;

/** RLIM_INFINITY */
const INFINITY = 2n ** 64n - 1n;

/** A process as its images tell of it. Pids are those of the session's own namespace. */
export interface ImageProcess {
  readonly pid: number;
  readonly ppid: number;
  readonly pgid: number;
  readonly sid: number;
  /** At most 15 bytes, as the kernel keeps it. */
  readonly name: string;
  readonly state: ProcessState;
  readonly threads: number;
  /** As the session's user namespace has it. */
  readonly uid: number | undefined;
  /** Hard limits by name; undefined is unlimited. */
  readonly limits: ReadonlyMap<string, number | undefined>;
  /** Number of its `fdinfo` image; processes may share one. A zombie has none. */
  readonly filesId: number | undefined;
}

/** A namespace holds at most 2^22 pids (PID_MAX_LIMIT); a desktop holds some hundred. */
const MAX_PROCESSES = 1 << 16;

/** The process tree of a dump, parents first. @throws {CriuError} `IMAGE_INVALID` */
export async function readProcesses(folder: string): Promise<ImageProcess[]> {
  const entries = await readPstree(folder);
  const processes: ImageProcess[] = [];
  for (const entry of entries) processes.push(await readProcess(folder, entry));
  return processes;
}

/** Name of a process by its inner pid, where the images have it; for the explanation of a failed restore. */
export async function readProcessName(folder: string, pid: number): Promise<string | undefined> {
  const core = await readCore(folder, pid);
  return core?.tc?.comm || undefined;
}

async function readPstree(folder: string): Promise<pstree_entry[]> {
  const entries = await readNeededImage(folder, "pstree.img", {
    schema: pstree_entrySchema,
    magic: MAGIC.pstree,
  });
  const where = join(folder, "pstree.img");
  if (entries.length > MAX_PROCESSES) throw invalid(where, `it names ${entries.length} processes`);
  if (new Set(entries.map(({ pid }) => pid)).size < entries.length)
    throw invalid(where, "it names a process twice");
  return entries;
}

async function readProcess(folder: string, entry: pstree_entry): Promise<ImageProcess> {
  const core = await readCore(folder, entry.pid);
  const [ids] =
    (await readImage(folder, `ids-${entry.pid}.img`, {
      schema: task_kobj_ids_entrySchema,
      magic: MAGIC.ids,
    })) ?? [];
  return {
    pid: entry.pid,
    ppid: entry.ppid,
    pgid: entry.pgid,
    sid: entry.sid,
    name: core?.tc?.comm ?? "",
    state: STATES[core?.tc?.taskState ?? 0] ?? "unknown",
    threads: entry.threads.length,
    uid: core?.threadCore?.creds?.uid,
    limits: limitsOf(core),
    filesId: ids?.filesId,
  };
}

async function readCore(folder: string, pid: number): Promise<core_entry | undefined> {
  const kind = { schema: core_entrySchema, magic: MAGIC.core };
  return (await readImage(folder, `core-${pid}.img`, kind))?.[0];
}

function limitsOf(core: core_entry | undefined): Map<string, number | undefined> {
  const limits = (core?.tc?.rlimits?.rlimits ?? []).slice(0, LIMIT_NAMES.length);
  return new Map(
    limits.map(({ max }, index) => [LIMIT_NAMES[index] ?? "", max === INFINITY ? undefined : Number(max)]),
  );
}
