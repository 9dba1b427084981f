import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import type { LoopDevice, LoopRequest, RootSystem } from "./system.js";

const POLL_MS = 5;

/** What open(2) and the loop ioctls answer where no device is free and none can be made. */
const NONE_FREE = new Set(["NO_FREE_LOOP", "ENOSPC", "ENODEV", "ENXIO", "ENOENT", "EBUSY"]);

/**
 * Attaches a part of a disk to a free loop device.
 *
 * @throws RootfsError NO_FREE_LOOP, LOOP_FAILED
 */
export async function attachLoop(system: RootSystem, request: LoopRequest): Promise<LoopDevice> {
  try {
    return await system.attachLoop(request);
  } catch (cause) {
    if (NONE_FREE.has(systemCode(cause) ?? ""))
      throw new RootfsError(
        "NO_FREE_LOOP",
        `no loop device is free for ${request.file}: ${reasonOf(cause)}`,
        {
          path: request.file,
          hint: "Detach loop devices that are no longer used (`losetup -a`, `drums gc`), or give /dev/loop-control and more /dev/loopN nodes.",
          cause,
        },
      );
    throw new RootfsError(
      "LOOP_FAILED",
      `cannot attach ${request.file} to a loop device: ${reasonOf(cause)}`,
      {
        path: request.file,
        hint: "Attaching needs root (CAP_SYS_ADMIN) and a file system that loop can read from.",
        facts: { offset: request.offset, bytes: request.bytes },
        cause,
      },
    );
  }
}

/** A loop device and the file behind it, as sysfs names it. */
export interface AttachedLoop {
  readonly device: string;
  readonly backingFile: string;
}

/** All attached loop devices. */
export async function listLoops({
  sysfs = "/sys",
}: {
  readonly sysfs?: string;
} = {}): Promise<AttachedLoop[]> {
  const names = (await readdir(join(sysfs, "block")).catch(() => [])).filter((name) =>
    /^loop\d+$/.test(name),
  );
  const loops = await Promise.all(
    names.map(async (name) => ({ device: `/dev/${name}`, backingFile: await backingFile(sysfs, name) })),
  );
  return loops.filter((loop): loop is AttachedLoop => loop.backingFile !== undefined);
}

/**
 * Waits until the device is gone, or is another file's. The kernel detaches after the last user only,
 * and a mount namespace that has just died is cleaned up in its own time.
 *
 * @throws RootfsError TEARDOWN_FAILED after `timeoutMs`
 */
export async function waitForLoop(
  { device, backingFile }: AttachedLoop,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const loops = await listLoops();
    if (!loops.some((loop) => loop.device === device && loop.backingFile === backingFile)) return;
    if (performance.now() > deadline)
      throw new RootfsError("TEARDOWN_FAILED", `${device} on ${backingFile} is still in use`, {
        path: device,
        hint: "A session still has it as a layer: end it (`grep -l DEVICE /proc/*/mountinfo` finds it) and collect again.",
        facts: { device, backingFile, timeoutMs },
      });
    await sleep(POLL_MS);
  }
}

async function backingFile(sysfs: string, name: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(sysfs, "block", name, "loop/backing_file"), "utf8");
    return text.trimEnd().replace(/ \(deleted\)$/, "");
  } catch {
    return undefined;
  }
}
