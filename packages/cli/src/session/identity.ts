import { readStartTime } from "@drums/nsexec/proc";
import { z } from "zod";

/** A process named so that a reused pid is never mistaken for it. Start time in clock ticks since boot, as text. */
export const identitySchema = z.object({
  pid: z.number().int().positive(),
  startTime: z.string().regex(/^\d+$/),
});

export type ProcessIdentity = z.infer<typeof identitySchema>;

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
