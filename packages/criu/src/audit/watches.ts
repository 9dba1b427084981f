import type { MountInfo } from "@drums/nsexec/proc";
import { type Finding, finding } from "./rules.js";
import type { Task } from "./snapshot.js";

/** Filesystems whose file handles CRIU can open again; an overlay's only with nfs_export. */
const WITH_HANDLES = new Set(["tmpfs", "devtmpfs", "ext4", "xfs", "btrfs"]);

/** What a watch check is told. */
export interface WatchCheckOptions {
  readonly mounts: ReadonlyMap<number, MountInfo>;
  /** Whether a file is deleted and still open in the session: device (the kernel's own number) and inode. */
  isDeleted(device: number, inode: number): boolean;
}

/**
 * Checks the watches of an inotify or fanotify descriptor by its fdinfo, as proc(5) shows it:
 * `inotify wd:1 ino:2 sdev:20 …`, `fanotify ino:2 sdev:20 …`, and without ino for a mark on a whole filesystem. The
 * device is the kernel's own number, major << 20 | minor.
 */
export function checkWatches(
  task: Task,
  { fd, info }: { readonly fd: number; readonly info: string },
  options: WatchCheckOptions,
): Finding[] {
  const whole = /^fanotify sdev:/m.test(info)
    ? [finding("fanotify-filesystem", `fd ${fd} fanotify`, task)]
    : [];
  const watches = [...info.matchAll(/^(inotify|fanotify) .*?\bino:([0-9a-f]+) sdev:([0-9a-f]+)/gm)].map(
    ([, kind = "", inode = "0", device = "0"]) => ({
      kind,
      inode: Number.parseInt(inode, 16),
      device: Number.parseInt(device, 16),
    }),
  );
  const objects = new Map<string, Finding>();
  for (const watch of watches)
    for (const one of checkWatch(task, { fd, ...watch }, options))
      objects.set(`${one.rule} ${one.object}`, one);
  return [...whole, ...objects.values()];
}

function checkWatch(
  task: Task,
  { fd, kind, inode, device }: { fd: number; kind: string; inode: number; device: number },
  { mounts, isDeleted }: WatchCheckOptions,
): Finding[] {
  const mount = mountOfDevice(device, mounts);
  const object = `fd ${fd} ${kind} on ${mount?.mountPoint ?? `device ${device >>> 20}:${device & 0xfffff}`}`;
  if (isDeleted(device, inode)) return [finding("inotify-deleted", object, task)];
  if (mount === undefined) return [];
  if (mount.fsType === "overlay")
    return mount.superOptions.includes("nfs_export=on") ? [] : [finding("inotify-overlay", object, task)];
  return WITH_HANDLES.has(mount.fsType) ? [] : [finding("inotify-no-handle", object, task)];
}

function mountOfDevice(device: number, mounts: ReadonlyMap<number, MountInfo>): MountInfo | undefined {
  const [major, minor] = [device >>> 20, device & 0xfffff];
  for (const mount of mounts.values()) if (mount.major === major && mount.minor === minor) return mount;
  return undefined;
}
