import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sys } from "@drums/nsexec";
import { codeOf, DrumsError } from "./errors.js";
import type { Home } from "./home.js";

/**
 * Runs `body` while no other process of this home holds the lock of that name. The kernel lets go of it when its
 * holder dies (flock(2)), so a crash locks nobody out. @param options.timeoutMs default 10 000
 * @throws DrumsError LOCKED
 */
export async function withLock<T>(
  home: Home,
  name: string,
  body: () => Promise<T>,
  { timeoutMs = 10_000 }: { readonly timeoutMs?: number } = {},
): Promise<T> {
  const path = join(home.path, `.${name}.lock`);
  const fd = openSync(path, "a", 0o600);
  try {
    const deadline = performance.now() + timeoutMs;
    while (!tryLock(fd)) {
      if (performance.now() > deadline) throw locked(path, timeoutMs);
      await sleep(10);
    }
    return await body();
  } finally {
    closeSync(fd);
  }
}

function tryLock(fd: number): boolean {
  try {
    sys.flock(fd, sys.LOCK.EX | sys.LOCK.NB);
    return true;
  } catch (error) {
    if (codeOf(error) === "EWOULDBLOCK" || codeOf(error) === "EAGAIN") return false;
    throw error;
  }
}

function locked(path: string, timeoutMs: number): DrumsError {
  return new DrumsError({
    code: "LOCKED",
    what: "another drums holds a lock for too long",
    where: path,
    why: `it was not free within ${timeoutMs} ms`,
    hint: `\`fuser ${path}\` names the process that holds it`,
  });
}
