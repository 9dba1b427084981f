import { type FileHandle, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sys } from "@drums/nsexec";
import { RootfsError, systemCode } from "../errors.js";
import { rootsFolder } from "./layout.js";

const POLL_MS = 5;

/**
 * Runs `body` with the state folder's roots to itself, among all processes: flock(2) on `roots/lock`.
 * The kernel drops the lock when its holder dies, so a half-made root seen under it has no living maker.
 *
 * @throws RootfsError ROOT_BUSY when another process keeps the lock for `timeoutMs`
 */
export async function withRootsLock<T>(
  stateDir: string,
  { timeoutMs }: { readonly timeoutMs: number },
  body: () => Promise<T>,
): Promise<T> {
  await mkdir(rootsFolder(stateDir), { recursive: true, mode: 0o700 });
  const path = join(rootsFolder(stateDir), "lock");
  const file = await open(path, "a", 0o600);
  try {
    await lock(file, path, timeoutMs);
    return await body();
  } finally {
    await file.close();
  }
}

async function lock(file: FileHandle, path: string, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!tryLock(file.fd)) {
    if (performance.now() > deadline)
      throw new RootfsError("ROOT_BUSY", `another process held ${path} for over ${timeoutMs} ms`, {
        path,
        hint: `See which with \`fuser -v ${path}\`; it is mounting or releasing a root.`,
      });
    await sleep(POLL_MS);
  }
}

/** Takes flock(2) of an open file for this process alone; false where somebody has it. */
export function tryLock(fd: number): boolean {
  try {
    sys.flock(fd, sys.LOCK.EX | sys.LOCK.NB);
    return true;
  } catch (error) {
    if (systemCode(error) === "EAGAIN" || systemCode(error) === "EWOULDBLOCK") return false;
    throw error;
  }
}
