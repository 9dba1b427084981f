import { readdirSync, readFileSync } from "node:fs";

/**
 * Kills what a half done restore has made so far: criu is stopped first, so that it makes no more.
 * The first child is the tree's root; as PID 1 of its namespace it takes the others with it.
 */
export function killChildren(criuPid: number): void {
  signal(criuPid, "SIGSTOP");
  for (const pid of childrenOf(criuPid)) signal(pid, "SIGKILL");
}

/** proc(5): /proc/PID/task/TID/children, over all threads. */
export function childrenOf(pid: number, { proc = "/proc" }: { readonly proc?: string } = {}): number[] {
  try {
    return readdirSync(`${proc}/${pid}/task`).flatMap((tid) =>
      readFileSync(`${proc}/${pid}/task/${tid}/children`, "utf8").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}
