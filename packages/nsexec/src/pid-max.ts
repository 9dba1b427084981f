import { closeSync } from "node:fs";
import { release } from "node:os";
import { NsexecError } from "./errors.js";
import { failureOf, parseControl, startRole } from "./launch/control.js";
import { encodePidMax } from "./plan/encode.js";
import { processGone } from "./proc/processes.js";
import { readStartTime } from "./proc/stat.js";
import { pidfdOpen } from "./syscalls/pidfd.js";

const SESSION_FD = 3;

/** Whether a kernel has a pid_max for each pid namespace: since 6.14. @param kernel as uname -r; default this one */
export function hasOwnPidMax(kernel: string = release()): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 6 || (major === 6 && minor >= 14);
}

/** PID 1 of a session. */
export interface PidMaxTarget {
  readonly pid: number;
  /** Clock ticks; refuses a process that merely has the same pid. Default: whoever has the pid now. */
  readonly startTime?: bigint;
}

/**
 * Sets the greatest pid of a session's pid namespace and reads it back: CRIU restores none. The host's own is looked
 * at before and after, and put back where the kernel has one for all.
 * @returns the value that is in force
 * @throws NsexecError code PID_MAX_REFUSED with step, path and errno; PROCESS_GONE
 */
export async function setPidMax({ pid, startTime }: PidMaxTarget, value: number): Promise<number> {
  const session = pidfdOpen(pid);
  try {
    if (startTime !== undefined && (await readStartTime(pid).catch(() => undefined)) !== startTime)
      throw processGone(pid);
    const plan = () => ({ asked: value, packet: encodePidMax(value, SESSION_FD) });
    const { child, control } = startRole("pid-max", { plan, fds: [{ source: session, target: SESSION_FD }] });
    try {
      const said = await control.receive();
      await child.exited;
      const failed = (await control.receive()) ?? said;
      return readBack(value, failed && parseControl(failed.data));
    } finally {
      control.close();
    }
  } finally {
    closeSync(session);
  }
}

function readBack(value: number, message: ReturnType<typeof parseControl> | undefined): number {
  if (message?.verb === "fail") throw failureOf(message, "PID_MAX_REFUSED");
  const found = Number(message?.fields[1]);
  if (found === value) return found;
  throw new NsexecError("PID_MAX_REFUSED", `pid_max reads ${found} after ${value} was written`, {
    step: "pid-max",
    hint: "The kernel keeps it between 301 and 4194304.",
  });
}
