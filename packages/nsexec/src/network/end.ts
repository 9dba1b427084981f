import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { NsexecError, SyscallError } from "../errors.js";
import { isGone } from "../proc/read.js";
import { readStartTime } from "../proc/stat.js";
import { pidfdOpen, pidfdSendSignal, pidfdWait } from "../syscalls/pidfd.js";
import type { Nat } from "./attach.js";

const TIMEOUT_MS = 10_000;

/**
 * Ends an attachment and waits until its slirp4netns is gone; the tap device and the published ports go with it.
 * One that has ended, or whose pid is another process's by now, is left alone.
 * @throws NsexecError code TIMEOUT
 */
export async function endNat({ pid, startTime }: Pick<Nat, "pid" | "startTime">): Promise<void> {
  const pidfd = openIfAlive(pid);
  if (pidfd === undefined) return;
  try {
    if ((await startTimeOf(pid)) !== startTime) return;
    pidfdSendSignal(pidfd, "SIGKILL");
    const late = sleep(TIMEOUT_MS, "late" as const, { ref: false });
    if ((await Promise.race([pidfdWait(pidfd), late])) === "late") throw stays(pid);
  } catch (error) {
    if (!isEnded(error)) throw error;
  } finally {
    closeSync(pidfd);
  }
}

function openIfAlive(pid: number): number | undefined {
  try {
    return pidfdOpen(pid);
  } catch (error) {
    if (isEnded(error)) return undefined;
    throw error;
  }
}

async function startTimeOf(pid: number): Promise<bigint | undefined> {
  try {
    return await readStartTime(pid);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

function isEnded(error: unknown): boolean {
  return error instanceof SyscallError && error.code === "ESRCH";
}

function stays(pid: number): NsexecError {
  return new NsexecError(
    "TIMEOUT",
    `slirp4netns (process ${pid}) is still there ${TIMEOUT_MS} ms after SIGKILL`,
    {
      hint: `See /proc/${pid}/stack: it hangs in the kernel, or its parent does not reap it.`,
    },
  );
}
