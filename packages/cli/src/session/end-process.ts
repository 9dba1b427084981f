import { closeSync } from "node:fs";
import { sys } from "@drums/nsexec";
import { codeOf, DrumsError } from "../errors.js";
import { isAlive, type ProcessIdentity } from "./identity.js";

/**
 * Ends exactly this process with SIGKILL and waits until it is gone. A process that took over its pid is safe:
 * the pidfd is opened first and the start time compared after that.
 * @param options.timeoutMs  default 10 000
 * @throws DrumsError PROCESS_STAYS
 */
export async function endProcess(
  process: ProcessIdentity,
  { timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const pidfd = openPidfd(process.pid);
  if (pidfd === undefined) return;
  try {
    if (!(await isAlive(process))) return;
    sys.pidfdSendSignal(pidfd, "SIGKILL");
    if (!(await endsWithin(pidfd, timeoutMs))) throw stays(process.pid, timeoutMs);
  } catch (error) {
    if (codeOf(error) !== "ESRCH") throw error;
  } finally {
    closeSync(pidfd);
  }
}

async function endsWithin(pidfd: number, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs);
  });
  try {
    return await Promise.race([sys.pidfdWait(pidfd).then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function openPidfd(pid: number): number | undefined {
  try {
    return sys.pidfdOpen(pid);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return undefined;
    throw error;
  }
}

function stays(pid: number, timeoutMs: number): DrumsError {
  return new DrumsError({
    code: "PROCESS_STAYS",
    what: `process ${pid} does not end`,
    why: `it still exists ${timeoutMs} ms after SIGKILL`,
    hint: `see /proc/${pid}/stack: it hangs in the kernel, or its parent does not reap it`,
  });
}
