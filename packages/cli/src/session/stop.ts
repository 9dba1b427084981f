import { closeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sys } from "@drums/nsexec";
import { isGone, listPidNamespace, type ProcessSummary, readStat } from "@drums/nsexec/proc";
import { codeOf, DrumsError } from "../errors.js";
import type { ProcessIdentity } from "./identity.js";

/** How long all of a session's processes may take to stop: one in a system call stops when that is over. */
const STOP_MS = 5_000;
const POLL_MS = 2;

/**
 * Stops every process of a session with SIGSTOP and gives those that it stopped, parents before their children: a shell
 * that sees its job stop would put it aside. A process that had been stopped before is left out.
 * @throws DrumsError NOT_STOPPED where they do not all stop in time; those that did are woken again
 */
export async function stopProcesses(init: ProcessIdentity): Promise<ProcessIdentity[]> {
  const stopped = new Map<number, ProcessIdentity>();
  const before = new Set((await listPidNamespace(init.pid)).filter(isStopped).map(({ pid }) => pid));
  const deadline = performance.now() + STOP_MS;
  for (;;) {
    // What was forked meanwhile is met in the next round; once all stand still nothing forks.
    const living = (await listPidNamespace(init.pid)).filter(
      ({ pid, state }) => !before.has(pid) && state !== "Z",
    );
    if (living.length > 0 && living.every((one) => stopped.has(one.pid) && isStopped(one)))
      return [...stopped.values()];
    for (const { pid, startTime } of parentsFirst(living)) {
      if (stopped.has(pid)) continue;
      stopped.set(pid, { pid, startTime: String(startTime) });
      await sendSignal({ pid, startTime: String(startTime) }, "SIGSTOP");
    }
    if (performance.now() > deadline) {
      await wakeProcesses([...stopped.values()]);
      throw notStopped(init);
    }
    await sleep(POLL_MS);
  }
}

/** Wakes what {@link stopProcesses} stopped, children before their parents. One that is gone is passed over. */
export async function wakeProcesses(stopped: readonly ProcessIdentity[]): Promise<void> {
  for (const process of [...stopped].reverse()) await sendSignal(process, "SIGCONT");
}

/** A pid that has come to mean another process is not signalled: its start time is compared once the pidfd is open. */
async function sendSignal({ pid, startTime }: ProcessIdentity, signal: NodeJS.Signals): Promise<void> {
  let pidfd: number | undefined;
  try {
    pidfd = sys.pidfdOpen(pid);
    if (String((await readStat(pid)).startTime) === startTime) sys.pidfdSendSignal(pidfd, signal);
  } catch (error) {
    if (codeOf(error) !== "ESRCH" && !isGone(error)) throw error;
  } finally {
    if (pidfd !== undefined) closeSync(pidfd);
  }
}

function isStopped({ state }: ProcessSummary): boolean {
  return state === "T";
}

function parentsFirst(processes: readonly ProcessSummary[]): ProcessSummary[] {
  const parents = new Map(processes.map(({ pid, ppid }) => [pid, ppid]));
  const depth = (pid: number): number => {
    const parent = parents.get(pid);
    return parent === undefined ? 0 : 1 + depth(parent);
  };
  return [...processes].sort((a, b) => depth(a.pid) - depth(b.pid));
}

function notStopped({ pid }: ProcessIdentity): DrumsError {
  return new DrumsError({
    code: "NOT_STOPPED",
    what: `the processes below ${pid} did not all stop`,
    why: `some still ran ${STOP_MS} ms after SIGSTOP`,
    hint: "one may hang in the kernel: see /proc/PID/stack",
  });
}
