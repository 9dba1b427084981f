import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { release } from "node:os";
import { join } from "node:path";
import type { MountStep } from "@drums/nsexec";
import { sha256 } from "./install/digest.js";
import type { Criu } from "./install/find.js";

/*
 * CRIU probes the kernel at each start, some 30 ms, and keeps the outcome in /run/criu.kdat where /run is a
 * tmpfs (criu/kerndat.c). A private /run with a kept file gives every call the outcome of the first.
 */

const CRIU_CACHE = "/run/criu.kdat";

/** A kept probe outcome for one kernel, boot and CRIU. */
export interface KernelCache {
  /** Private mounts for a call; they hide /run, so no path given to CRIU may lie there. */
  readonly mounts: readonly MountStep[];
  /** Whether an outcome is kept already. */
  readonly warm: boolean;
  /** Keeps the outcome of a criu that is running in `mounts`. Does nothing where it is kept already. */
  keep(criuPid: number): Promise<void>;
}

/** What an outcome is valid for: another kernel, boot or CRIU has another key. */
export async function kernelCacheKey(criu: Pick<Criu, "digest">, { proc = "/proc" } = {}): Promise<string> {
  const boot = await readFile(`${proc}/sys/kernel/random/boot_id`, "utf8").catch(() => "");
  return sha256(`${release()}\n${boot.trim()}\n${criu.digest}\n`).slice(0, 32);
}

/** Opens the cache under a home folder. */
export async function openKernelCache(criu: Criu, { home }: { readonly home: string }): Promise<KernelCache> {
  const folder = join(home, "criu", "kernel");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${await kernelCacheKey(criu)}.kdat`);
  const warm = await access(file).then(
    () => true,
    () => false,
  );
  return {
    mounts: warm ? warmMounts(file) : [PRIVATE_RUN],
    warm,
    keep: warm ? async () => {} : (pid) => keep(pid, file),
  };
}

const PRIVATE_RUN: MountStep = {
  kind: "mount",
  fsType: "tmpfs",
  source: "tmpfs",
  target: "/run",
  data: "size=1m,mode=755",
};

function warmMounts(file: string): MountStep[] {
  return [
    PRIVATE_RUN,
    { kind: "file", path: CRIU_CACHE, content: "" },
    { kind: "bind", source: file, target: CRIU_CACHE },
  ];
}

async function keep(criuPid: number, file: string): Promise<void> {
  const outcome = await readFile(`/proc/${criuPid}/root${CRIU_CACHE}`).catch(() => undefined);
  if (outcome === undefined) return;
  // Two dumps may be the first at the same time: each writes a file of its own.
  const own = `${file}.${process.pid}-${criuPid}`;
  await writeFile(own, outcome);
  await rename(own, file);
}
