import { readStartTime } from "@drums/nsexec/proc";

/** A process named so that a reused pid is never mistaken for it. Start time in clock ticks since boot, as text. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
}

/** The identity of a process that lives now. Throws what reading /proc/PID/stat throws when it does not. */
export async function identify(pid: number): Promise<ProcessIdentity> {
  return { pid, startTime: String(await readStartTime(pid)) };
}

/** Whether exactly this process still exists (a zombie does). */
export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  try {
    return String(await readStartTime(process.pid)) === process.startTime;
  } catch {
    return false;
  }
}
