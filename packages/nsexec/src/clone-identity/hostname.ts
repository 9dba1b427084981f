import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { NsexecError } from "../errors.js";
import { processGone } from "../proc/processes.js";
import { isGone } from "../proc/read.js";
import { readStartTime } from "../proc/stat.js";
import { O } from "../syscalls/constants.js";

/** The process whose uts namespace gets the name. */
export interface HostnameTarget {
  readonly pid: number;
  /** Clock ticks; refuses a process that merely has the same pid. Default: not asked. */
  readonly startTime?: bigint;
}

const UTS_FD = 3;

/**
 * Sets the kernel's host name in a session's uts namespace, from outside: inside it may not. It touches no file.
 * @throws NsexecError code HOSTNAME_FAILED, PROCESS_GONE
 */
export async function setHostname(target: HostnameTarget, hostname: string): Promise<void> {
  const uts = await openUts(target);
  try {
    const { code, said } = await runHostname(uts, hostname);
    if (code !== 0) throw failed(hostname, said || `nsenter ended with ${code}`);
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

function runHostname(uts: number, hostname: string): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("nsenter", [`--uts=/proc/self/fd/${UTS_FD}`, "hostname", hostname], {
      stdio: ["ignore", "ignore", "pipe", uts],
    });
    let said = "";
    child.stderr?.on("data", (data) => {
      said += data;
    });
    child.once("error", (cause) => reject(failed(hostname, cause.message, cause)));
    child.once("close", (code) => resolve({ code, said: said.trim() }));
  });
}

function failed(hostname: string, why: string, cause?: unknown): NsexecError {
  return new NsexecError(
    "HOSTNAME_FAILED",
    `the host name ${JSON.stringify(hostname)} could not be set: ${why}`,
    {
      hint: "It needs root, nsenter (util-linux) and hostname on PATH, and a name of at most 64 bytes.",
      cause,
    },
  );
}
