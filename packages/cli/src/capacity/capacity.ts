import type { Machine } from "../preflight/machine.js";
import { bytesText } from "../render/style.js";
import { memoryFloor, parseMeminfo } from "./meminfo.js";
import type { SiblingNeeds } from "./needs.js";

/** One thing that siblings take of a machine, and how far it reaches. */
export interface ResourceCapacity {
  readonly name: string;
  /** What one sibling takes. */
  readonly each: number;
  readonly limit: number;
  /** By all that runs now, or kept free of siblings. */
  readonly used: number;
  /** How many more siblings fit by it; Infinity where they take none of it. */
  readonly fits: number;
  /** In words, with the numbers. */
  readonly detail: string;
  /** What makes room for so many more siblings. */
  remedy(count: number): string;
}

/** How many siblings of a checkpoint fit on a machine beside what runs on it. */
export interface Capacity {
  readonly fits: number;
  readonly needs: SiblingNeeds;
  /** What runs out first comes first. */
  readonly resources: readonly ResourceCapacity[];
}

/** The kernel's highest pid_max on 64 bits (PID_MAX_LIMIT). */
const MOST_PIDS = 4_194_304;
/** Pids and open files that the host keeps for itself, for the programs that make siblings. */
const HOST_SHARE = 256;
const DISK_FLOOR = 256 * 2 ** 20;

/** Computes from a sibling's needs and the machine's limits how many more siblings fit. Reads only. */
export function capacityOf(
  needs: SiblingNeeds,
  { home, machine }: { readonly home: string; readonly machine: Machine },
): Capacity {
  const inotify = machine.inotifyUse(needs.inotifyUid);
  const tasks = taskCount(machine.read("/proc/loadavg"));
  const files = Number(machine.read("/proc/sys/fs/file-nr")?.split(/\s+/)[0] ?? 0);
  const counted = (name: string, file: string, facts: { each: number; used: number; most?: number }) =>
    sysctlCapacity({ name, file, limit: numberIn(machine, file), ...facts });
  const resources = [
    counted("inotify instances", "fs.inotify.max_user_instances", {
      each: needs.inotifyInstances,
      used: inotify.instances,
    }),
    counted("inotify watches", "fs.inotify.max_user_watches", {
      each: needs.inotifyWatches,
      used: inotify.watches,
    }),
    counted("pids", "kernel.pid_max", { each: needs.threads, used: tasks + HOST_SHARE, most: MOST_PIDS }),
    counted("threads", "kernel.threads-max", { each: needs.threads, used: tasks + HOST_SHARE }),
    counted("open files", "fs.file-max", { each: needs.openFiles, used: files + HOST_SHARE }),
    memoryCapacity(needs, machine),
    diskCapacity(needs, { home, machine }),
  ].sort((a, b) => a.fits - b.fits);
  return { fits: resources[0]?.fits ?? 0, needs, resources };
}

/** A limit of the kernel's that root can raise. One that cannot be read is no limit. */
function sysctlCapacity(facts: {
  readonly name: string;
  readonly file: string;
  readonly limit: number;
  readonly each: number;
  readonly used: number;
  /** The highest that the kernel takes. */
  readonly most?: number;
}): ResourceCapacity {
  const { name, file, limit, each, used, most = Number.POSITIVE_INFINITY } = facts;
  return {
    ...{ name, each, limit, used, fits: fitting(limit - used, each) },
    detail: `${each} a sibling; ${used} of ${limit} are taken`,
    remedy: (count) => {
      const wanted = used + count * each;
      return wanted > most ? `ask for fewer: the kernel takes at most ${most}` : `sysctl ${file}=${wanted}`;
    },
  };
}

function memoryCapacity({ memoryBytes: each }: SiblingNeeds, machine: Machine): ResourceCapacity {
  const memory = parseMeminfo(machine.read("/proc/meminfo"));
  const total = memory?.total ?? Number.POSITIVE_INFINITY;
  const floor = memory === undefined ? 0 : memoryFloor(memory);
  const free = memory === undefined ? Number.POSITIVE_INFINITY : memory.available - floor;
  return {
    ...{ name: "memory", each, limit: total, used: total - free, fits: fitting(free, each) },
    detail: `${bytesText(each)} a sibling; ${bytesText(Math.max(free, 0))} are available above ${bytesText(floor)} that stay free`,
    remedy: (count) => `free ${bytesText(count * each - free)} of memory, or ask for fewer siblings`,
  };
}

function diskCapacity(
  { diskBytes: each }: SiblingNeeds,
  { home, machine }: { readonly home: string; readonly machine: Machine },
): ResourceCapacity {
  const free = machine.freeBytes(home) - DISK_FLOOR;
  return {
    ...{ name: "disk", each, limit: free + DISK_FLOOR, used: DISK_FLOOR, fits: fitting(free, each) },
    detail: `${bytesText(each)} a sibling at its start; ${bytesText(Math.max(free, 0))} are free for ${home} above ${bytesText(DISK_FLOOR)}`,
    remedy: (count) => `free ${bytesText(count * each - free)} on the disk of ${home}`,
  };
}

function fitting(free: number, each: number): number {
  return each === 0 ? Number.POSITIVE_INFINITY : Math.max(0, Math.floor(free / each));
}

function numberIn(machine: Machine, sysctl: string): number {
  const text = machine.read(`/proc/sys/${sysctl.replaceAll(".", "/")}`)?.trim();
  return text === undefined || !/^\d+$/.test(text) ? Number.POSITIVE_INFINITY : Number(text);
}

/** The second number of `1/203`: all tasks of the machine, each thread one (proc_loadavg(5)). */
function taskCount(loadavg: string | undefined): number {
  return Number(/ \d+\/(\d+) /.exec(loadavg ?? "")?.[1] ?? 0);
}
