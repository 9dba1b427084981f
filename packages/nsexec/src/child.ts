import { closeSync } from "node:fs";
import { NsexecError, SyscallError } from "./errors.js";
import { type ExitStatus, pidfdSendSignal, reap } from "./syscalls/pidfd.js";
import { type CloneExecOptions, clone3Exec } from "./syscalls/spawn.js";
import { watchFd } from "./syscalls/watch.js";

/** A running child that libuv knows nothing of. */
export interface NativeChild {
  readonly pid: number;
  /** Open until the child has ended; closed by us. */
  readonly pidfd: number;
  /** Resolves when the child has ended and been reaped. Never rejects for how it ended. */
  readonly exited: Promise<ExitStatus>;
  /** Sends a signal, and says whether the child was still there to get it. */
  kill(signal?: NodeJS.Signals | number): boolean;
  /** Lets Node exit while the child runs on. */
  unref(): void;
}

/**
 * Starts a program with exactly the descriptors, environment and namespaces that are given, and
 * returns once it runs. It is waited for through its pidfd.
 * @throws SyscallError of the step that failed: clone3, dup2, chdir or execve
 */
export function spawnNative(options: CloneExecOptions): NativeChild {
  const { pid, pidfd } = clone3Exec(options);
  let running = true;
  let unref = () => {};
  const exited = new Promise<ExitStatus>((resolve, reject) => {
    const watch = watchFd(pidfd, () => {
      const ended = reap(pidfd);
      if (ended === "running") return;
      running = false;
      watch.close();
      closeSync(pidfd);
      if (ended === undefined) reject(stolen(pid));
      else resolve(ended);
    });
    unref = () => watch.unref();
  });
  return {
    pid,
    pidfd,
    exited,
    unref: () => unref(),
    kill: (signal = "SIGTERM") => running && sendTo(pidfd, signal),
  };
}

function sendTo(pidfd: number, signal: NodeJS.Signals | number): boolean {
  try {
    pidfdSendSignal(pidfd, signal);
    return true;
  } catch (error) {
    if (error instanceof SyscallError && error.code === "ESRCH") return false;
    throw error;
  }
}

function stolen(pid: number): NsexecError {
  return new NsexecError(
    "CHILD_STOLEN",
    `somebody else in this process reaped child ${pid}; its status is lost`,
    {
      hint: "Find the native module that calls wait(2) for every child.",
    },
  );
}
