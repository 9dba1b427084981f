import { closeSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { sys } from "@drums/nsexec";
import type { Remains } from "../rpc/stopper.js";

/** Where the /proc to read is mounted. */
interface ProcOptions {
  readonly proc?: string;
}

/**
 * Kills what a restore has made when its criu is to be ended, or was: criu is stopped first, so that it makes
 * no more. A restored task is found as criu's child or, where criu is dead, by criu's socket, which it holds
 * until its own descriptors are in place. PID 1 of a restored namespace takes the others with it.
 */
export function killRemains({ criuPid, socketInode }: Remains, options: ProcOptions = {}): void {
  signal(criuPid, "SIGSTOP");
  const tasks = new Set([...childrenOf(criuPid, options), ...holdersOf(socketInode, options)]);
  for (const pid of tasks) if (pid !== criuPid) signal(pid, "SIGKILL");
}

/** proc(5): /proc/PID/task/TID/children, over all threads. */
export function childrenOf(pid: number, { proc = "/proc" }: ProcOptions = {}): number[] {
  try {
    return readdirSync(`${proc}/${pid}/task`).flatMap((tid) =>
      readFileSync(`${proc}/${pid}/task/${tid}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** The processes that have a socket open. */
export function holdersOf(inode: bigint, { proc = "/proc" }: ProcOptions = {}): number[] {
  const pids = readdirSync(proc).filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => holds(`${proc}/${pid}/fd`, `socket:[${inode}]`)).map(Number);
}

function holds(folder: string, target: string): boolean {
  try {
    return readdirSync(folder).some((fd) => readlinkSync(`${folder}/${fd}`) === target);
  } catch {
    return false;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}

/** The root of a tree that is being restored, by pidfd: it cannot come to mean another process. */
export class RestoredRoot {
  #pidfd: number | undefined;

  /** CRIU names the root at setup-namespaces. */
  found(pid: number): void {
    this.#pidfd ??= sys.pidfdOpen(pid);
  }

  /** Kills the root and waits for its end; its namespaces go with it. */
  async end(): Promise<void> {
    if (this.#pidfd === undefined) return;
    try {
      sys.pidfdSendSignal(this.#pidfd, "SIGKILL");
      await sys.pidfdWait(this.#pidfd);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }

  close(): void {
    if (this.#pidfd !== undefined) closeSync(this.#pidfd);
    this.#pidfd = undefined;
  }
}
