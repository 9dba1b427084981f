import { closeSync } from "node:fs";
import { stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { NsexecError } from "./errors.js";
import type { ProcOptions } from "./proc/read.js";
import { readStatus } from "./proc/status.js";
import { pidfdOpen, pidfdSendSignal } from "./syscalls/pidfd.js";

/** A session's init, as the host sees it. */
export interface InitTarget extends ProcOptions {
  readonly pid: number;
}

const WAIT_MS = 5_000;
const POLL_MS = 2;

/**
 * Runs `work` while a session's init is dumpable (PR_SET_DUMPABLE(2const)), which it is not else: the session's root
 * could trace it. CRIU looks at a restored session's namespaces with the session's own rights before it dumps it, and
 * may not where a restored init is not dumpable.
 * @throws NsexecError code TIMEOUT where init does not obey
 */
export async function withDumpableInit<T>(target: InitTarget, work: () => Promise<T>): Promise<T> {
  order(target, "SIGUSR1");
  try {
    await untilDumpable(target);
    return await work();
  } finally {
    sealInit(target);
  }
}

/** Makes an init undumpable again, as after a restore from a dump that was made while it was not. */
export function sealInit(target: InitTarget): void {
  order(target, "SIGUSR2");
}

function order({ pid }: InitTarget, signal: NodeJS.Signals): void {
  const pidfd = pidfdOpen(pid);
  try {
    pidfdSendSignal(pidfd, signal);
  } finally {
    closeSync(pidfd);
  }
}

/** The files of a dumpable process in /proc belong to its own user, those of another to root (proc(5)). */
async function untilDumpable({ pid, proc = "/proc" }: InitTarget): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  const { uids } = await readStatus(pid, { proc });
  while ((await stat(`${proc}/${pid}`)).uid !== uids.effective) {
    if (performance.now() > deadline)
      throw new NsexecError("TIMEOUT", `the init of the session (pid ${pid}) did not become dumpable`, {
        hint: "It is stopped or hangs: look at its state.",
      });
    await sleep(POLL_MS);
  }
}
