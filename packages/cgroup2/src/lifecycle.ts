import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ignoring } from "./errno.js";
import { CgroupError } from "./errors.js";
import { readEvents, waitForEvents } from "./events.js";
import type { Group } from "./group.js";
import { parentFolders } from "./paths.js";

/** A bound on a wait. */
export interface WaitOptions {
  /** Milliseconds until `TIMEOUT`. */
  readonly timeoutMs?: number;
}

const FREEZE_TIMEOUT_MS = 2000;
const EMPTY_TIMEOUT_MS = 5000;
const REMOVE_TIMEOUT_MS = 1000;
const REMOVE_RETRY_MS = 2;

/** See {@link Group.freeze}. */
export function freezeGroup(
  group: Group,
  { timeoutMs = FREEZE_TIMEOUT_MS }: WaitOptions = {},
): Promise<void> {
  return setFrozen(group, true, timeoutMs);
}

/** See {@link Group.thaw}. */
export function thawGroup(group: Group, { timeoutMs = FREEZE_TIMEOUT_MS }: WaitOptions = {}): Promise<void> {
  return setFrozen(group, false, timeoutMs);
}

async function setFrozen(group: Group, frozen: boolean, timeoutMs: number): Promise<void> {
  const { files } = group.hierarchy;
  files.write(join(group.path, "cgroup.freeze"), frozen ? "1" : "0");
  await waitForEvents({
    files,
    folder: group.path,
    until: (events) => events.frozen === frozen,
    timeoutMs,
    what: frozen ? "not every process froze" : "not every process thawed",
    hint: "a process in an uninterruptible wait cannot freeze; a frozen group above keeps this one frozen",
  });
}

/** See {@link Group.kill}. */
export async function killGroup(group: Group, options: WaitOptions = {}): Promise<void> {
  // A group that is gone has nothing to kill; the read-back below tells it from a kernel without the file.
  try {
    group.hierarchy.files.write(join(group.path, "cgroup.kill"), "1");
  } catch (error) {
    if (readEvents(group.hierarchy.files, group.path).populated) throw error;
  }
  await waitUntilEmpty(group, options);
}

/** See {@link Group.waitEmpty}. */
export function waitUntilEmpty(
  group: Group,
  { timeoutMs = EMPTY_TIMEOUT_MS }: WaitOptions = {},
): Promise<void> {
  return waitForEvents({
    files: group.hierarchy.files,
    folder: group.path,
    until: (events) => !events.populated,
    timeoutMs,
    what: "not empty",
    hint: "kill it; a process in an uninterruptible wait ends only when that wait does",
  });
}

/** See {@link Group.remove}. */
export async function removeGroup(group: Group, options: WaitOptions = {}): Promise<void> {
  const deadline = performance.now() + (options.timeoutMs ?? REMOVE_TIMEOUT_MS);
  await removeTree(group, group.path, deadline);
  const { files } = group.hierarchy;
  // Bottom up. EBUSY: another session has its group there; ENOENT: another one removed it.
  for (const parent of parentFolders(group).reverse())
    ignoring(["EBUSY", "ENOTEMPTY", "ENOENT"], () => files.rmdir(parent));
}

async function removeTree(group: Group, folder: string, deadline: number): Promise<void> {
  for (const child of childrenOf(group, folder)) await removeTree(group, join(folder, child), deadline);
  for (;;) {
    try {
      return ignoring(["ENOENT"], () => group.hierarchy.files.rmdir(folder));
    } catch (error) {
      if (!(error instanceof CgroupError) || error.errno !== "EBUSY") throw error;
      if (readEvents(group.hierarchy.files, folder).populated) throw notEmpty(group, folder, error);
      // The last process has ended but is still being taken out of the group.
      if (performance.now() > deadline) throw error;
      await sleep(REMOVE_RETRY_MS);
    }
  }
}

function childrenOf(group: Group, folder: string): string[] {
  let children: string[] = [];
  ignoring(["ENOENT"], () => {
    children = group.hierarchy.files.children(folder);
  });
  return children;
}

function notEmpty(group: Group, folder: string, cause: CgroupError): CgroupError {
  const pids = group.hierarchy.files.read(join(folder, "cgroup.procs")).trim().split("\n").slice(0, 20);
  return new CgroupError("NOT_EMPTY", `${folder} holds processes: ${pids.join(" ")}`, {
    hint: "kill the group and wait until it is empty before removing it",
    path: folder,
    errno: "EBUSY",
    syscall: "rmdir",
    cause,
  });
}
