import { constants } from "node:os";
import { callNative, NsexecError, SyscallError } from "../errors.js";
import { native } from "./native.js";
import { watchFd } from "./watch.js";

/** How a child ended: by an exit code or by a signal. */
export interface ExitStatus {
  readonly code?: number;
  readonly signal?: string;
}

/** pidfd_open(2): a descriptor that cannot come to mean another process. @throws SyscallError code ESRCH */
export function pidfdOpen(pid: number): number {
  return callNative(() => native().pidfdOpen(pid));
}

/** pidfd_send_signal(2). Signal 0 asks only whether the process is there. @throws SyscallError code ESRCH */
export function pidfdSendSignal(pidfd: number, signal: NodeJS.Signals | number): void {
  callNative(() => native().pidfdSendSignal(pidfd, signalNumber(signal)));
}

/**
 * Waits until the process has ended, without blocking. A child is reaped and its status returned;
 * a process that is no child of ours gives undefined: it is gone, and nobody told us how.
 */
export function pidfdWait(pidfd: number): Promise<ExitStatus | undefined> {
  return new Promise((resolve, reject) => {
    const watch = watchFd(pidfd, () => {
      try {
        const ended = reap(pidfd);
        if (ended === "running") return;
        watch.close();
        resolve(ended);
      } catch (error) {
        watch.close();
        reject(error);
      }
    });
  });
}

/** waitid(2) with WNOHANG: the status, undefined for a process that is no child of ours, or "running". */
export function reap(pidfd: number): ExitStatus | undefined | "running" {
  try {
    const ended = callNative(() => native().waitidPidfd(pidfd));
    if (ended === null) return "running";
    return ended.exited ? { code: ended.status } : { signal: signalName(ended.status) };
  } catch (error) {
    if (error instanceof SyscallError && error.code === "ECHILD") return undefined;
    throw error;
  }
}

/** The number of a signal given by name or number. */
export function signalNumber(signal: NodeJS.Signals | number): number {
  if (typeof signal === "number") return signal;
  const number = constants.signals[signal];
  if (number === undefined) throw new NsexecError("BAD_SIGNAL", `there is no signal named ${signal}`);
  return number;
}

/** The name of a signal number: 9 → "SIGKILL"; real-time signals give "SIG34" and so on. */
export function signalName(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}
