import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import type { MountStep } from "@drums/nsexec";

/*
 * CRIU makes its mount points under /tmp (`.criu.mntns.XXXXXX`, `cr-tmpfs.XXXXXX`: criu/mount.c) and takes them
 * away at the end; a criu that is killed leaves them. So it gets a /tmp of its own: what is there stays in sight,
 * and what it makes goes with its mount namespace.
 */

/** A folder of this call's own to stack on, and the steps that do it. They come last: they hide mounts below /tmp. */
export interface PrivateTmp {
  readonly steps: readonly MountStep[];
  /** Takes the folder away. */
  remove(): void;
}

/** Prepares a private /tmp in a call's work folder. */
export function privateTmp(workDir: string): PrivateTmp {
  const folder = join(workDir, "tmp");
  mkdirSync(folder, { recursive: true });
  const [upper, work] = [join(folder, "upper"), join(folder, "work")];
  return {
    steps: [
      { kind: "mount", fsType: "tmpfs", source: "tmpfs", target: folder, data: "mode=700,size=1m" },
      { kind: "folder", path: upper, mode: 0o1777 },
      { kind: "folder", path: work },
      {
        kind: "mount",
        fsType: "overlay",
        source: "overlay",
        target: "/tmp",
        data: `lowerdir=/tmp,upperdir=${escaped(upper)},workdir=${escaped(work)}`,
      },
    ],
    remove: () => rmdirSync(folder),
  };
}

/** overlayfs takes a comma or backslash in a path behind a backslash (ovl_next_opt in fs/overlayfs). */
function escaped(path: string): string {
  return path.replace(/[\\,]/g, "\\$&");
}
