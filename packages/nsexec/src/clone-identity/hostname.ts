import { closeSync, openSync } from "node:fs";
import { NsexecError } from "../errors.js";
import { processGone } from "../proc/processes.js";
import { isGone } from "../proc/read.js";
import { readStartTime } from "../proc/stat.js";
import { O } from "../syscalls/constants.js";
import { setHostnameIn } from "../syscalls/namespace.js";

/** The process whose uts namespace gets the name. */
export interface HostnameTarget {
  readonly pid: number;
  /** Clock ticks; refuses a process that merely has the same pid. Default: not asked. */
  readonly startTime?: bigint;
}

/**
 * Sets the kernel's host name in a session's uts namespace, from outside: inside it may not. It touches no file.
 * @throws NsexecError code HOSTNAME_FAILED, PROCESS_GONE
 */
export async function setHostname(target: HostnameTarget, hostname: string): Promise<void> {
  const uts = await openUts(target);
  try {
    setHostnameIn(uts, hostname);
  } catch (cause) {
    throw failed(hostname, cause);
  } finally {
    closeSync(uts);
  }
}

async function openUts({ pid, startTime }: HostnameTarget): Promise<number> {
  try {
    const uts = openSync(`/proc/${pid}/ns/uts`, O.O_RDONLY | O.O_CLOEXEC);
    // Asked after the open: if the pid is still that process's now, what was opened is its.
    if (startTime === undefined || (await readStartTime(pid)) === startTime) return uts;
    closeSync(uts);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  throw processGone(pid);
}

function failed(hostname: string, cause: unknown): NsexecError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new NsexecError(
    "HOSTNAME_FAILED",
    `the host name ${JSON.stringify(hostname)} could not be set: ${why}`,
    { hint: "It needs root, and a name of at most 64 bytes.", cause },
  );
}
