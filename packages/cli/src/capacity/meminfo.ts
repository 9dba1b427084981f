/** What /proc/meminfo says, in bytes. */
export interface MemoryInfo {
  readonly total: number;
  /** What programs can still have without swapping, as the kernel estimates it (proc_meminfo(5)). */
  readonly available: number;
}

/** Reads MemTotal and MemAvailable; undefined where one is not there. */
export function parseMeminfo(text: string | undefined): MemoryInfo | undefined {
  const bytes = (name: string): number | undefined => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text ?? "")?.[1];
    return kib === undefined ? undefined : Number(kib) * 1024;
  };
  const [total, available] = [bytes("MemTotal"), bytes("MemAvailable")];
  return total === undefined || available === undefined ? undefined : { total, available };
}

/** What is kept free of siblings: a twentieth of the machine, and at least 256 MiB. In bytes. */
export function memoryFloor({ total }: Pick<MemoryInfo, "total">): number {
  return Math.max(total / 20, 256 * 2 ** 20);
}
