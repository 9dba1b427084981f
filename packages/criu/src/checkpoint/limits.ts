import { readLimits } from "@drums/nsexec/proc";
import { readProcesses } from "../images/processes.js";

/** Hard limits by setrlimit(2)'s names in small letters (`nofile`); null is unlimited. */
export type Limits = Readonly<Record<string, number | null>>;

/** The kernel's names in /proc/PID/limits (fs/proc/base.c). */
const KERNEL_NAMES: Readonly<Record<string, string>> = {
  "Max cpu time": "cpu",
  "Max file size": "fsize",
  "Max data size": "data",
  "Max stack size": "stack",
  "Max core file size": "core",
  "Max resident set": "rss",
  "Max processes": "nproc",
  "Max open files": "nofile",
  "Max locked memory": "memlock",
  "Max address space": "as",
  "Max file locks": "locks",
  "Max pending signals": "sigpending",
  "Max msgqueue size": "msgqueue",
  "Max nice priority": "nice",
  "Max realtime priority": "rtprio",
  "Max realtime timeout": "rttime",
};

/** The hard limits of this process, which what it restores cannot exceed (getrlimit(2)). */
export async function ownLimits({ proc = "/proc" }: { readonly proc?: string } = {}): Promise<Limits> {
  const limits = [...(await readLimits("self", { proc }))];
  return Object.fromEntries(
    limits.flatMap(([name, { hard }]) => {
      const own = KERNEL_NAMES[name];
      return own === undefined ? [] : [[own, hard === undefined ? null : Number(hard)]];
    }),
  );
}

/** The highest hard limits among the processes of a dump. @throws {CriuError} `IMAGE_INVALID` */
export async function dumpedLimits(imagesDir: string): Promise<Limits> {
  const highest = new Map<string, number | null>();
  for (const { limits } of await readProcesses(imagesDir))
    for (const [name, limit] of limits) highest.set(name, higher(highest.get(name), limit ?? null));
  return Object.fromEntries(highest);
}

function higher(a: number | null | undefined, b: number | null): number | null {
  if (a === null || b === null) return null;
  return Math.max(a ?? 0, b);
}
