import { isGone, readStartTime, readStat } from "@drums/nsexec/proc";
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

/** Whether exactly this process lives. One that has ended and is yet to be reaped does not. */
export async function isAlive(process: ProcessIdentity): Promise<boolean> {
  try {
    const { startTime, state } = await readStat(process.pid);
    return String(startTime) === process.startTime && state !== "Z" && state !== "X";
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}
