import { statfsSync, statSync } from "node:fs";
import type { MountInfo } from "@drums/nsexec/proc";
import { isDumpableDevice, isTun } from "./devices.js";
import { readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Descriptor, Task } from "./snapshot.js";
import { checkWatches } from "./watches.js";

/** Anonymous inodes that CRIU saves; of every other it says `Can't dump file N of that type`. */
const SAVED_ANON =
  /^anon_inode:(\[eventfd\]|\[eventpoll\]|\[signalfd\]|\[timerfd\]|\[pidfd\]|inotify|\[fanotify\])/;
const WATCH_ANON = /^anon_inode:(inotify|\[fanotify\])/;
/** open(2), in octal as fdinfo shows them: PIDFD_THREAD is O_EXCL. */
const O_EXCL = 0o200;
const O_DIRECT = 0o40000;
/** statfs(2) */
const MQUEUE_MAGIC = 0x19800202;
const BLOCK_BYTES = 512;
/** Links that look like paths and are files without a mount of their own. */
const INTERNAL_FILE = /^\/(memfd:|SYSV[0-9a-f]{8}|dev\/zero \(deleted\)|\[aio\]|i915|drm mm object)/;
export const DELETED = " (deleted)";

/** What the descriptor checks are told. */
export interface DescriptorCheckOptions {
  readonly proc: string;
  /** Every mount of the tree's mount namespaces, by mount id. */
  readonly mounts: ReadonlyMap<number, MountInfo>;
  readonly ghostLimitBytes: number;
  readonly linkRemap: boolean;
  readonly fileLocks: boolean;
  readonly emptyNet: boolean;
  /** The tree's pids as the session counts them. */
  readonly innerPids: ReadonlySet<number>;
  /** Whether a file is deleted and still open in the session. */
  isDeleted(device: number, inode: number): boolean;
}

/** Checks every descriptor of a task. Sockets and terminals are judged apart, over the whole tree. */
export function checkDescriptors(task: Task, options: DescriptorCheckOptions): Finding[] {
  return task.descriptors.flatMap((descriptor) => checkDescriptor(task, descriptor, options));
}

function checkDescriptor(task: Task, { fd, target }: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const object = `fd ${fd} ${target}`;
  if (target.startsWith("anon_inode:")) return checkAnonymous(task, { fd, target }, options);
  if (target.startsWith("/secretmem")) return [finding("descriptor-anon", object, task)];
  if (target.startsWith("pipe:"))
    return (flagsOf(infoOf(task, fd, options)) & O_DIRECT) !== 0
      ? [finding("pipe-packets", object, task)]
      : [];
  if (!target.startsWith("/") || INTERNAL_FILE.test(target)) return [];
  return checkFile(task, { fd, target }, options);
}

function checkAnonymous(task: Task, { fd, target }: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const object = `fd ${fd} ${target}`;
  if (!SAVED_ANON.test(target)) return [finding("descriptor-anon", object, task)];
  if (WATCH_ANON.test(target)) return checkWatches(task, { fd, info: infoOf(task, fd, options) }, options);
  if (target === "anon_inode:[pidfd]" && (flagsOf(infoOf(task, fd, options)) & O_EXCL) !== 0)
    return [finding("descriptor-anon", `${object} of a thread`, task)];
  return [];
}

function checkFile(task: Task, { fd, target }: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const object = `fd ${fd} ${target}`;
  const info = infoOf(task, fd, options);
  const mountId = mountIdOf(info);
  if (mountId === undefined) return []; // closed meanwhile, or its process has ended
  const path = `${options.proc}/${task.pid}/fd/${fd}`;
  const mount = options.mounts.get(mountId);
  if (mount === undefined)
    return [finding(isMqueue(path) ? "descriptor-mqueue" : "descriptor-foreign-mount", object, task)];
  const lock = !options.fileLocks && /^lock:/m.test(info) ? [finding("file-lock", object, task)] : [];
  if (target.startsWith("/dev/")) return [...lock, ...checkDevice(task, { path, object }, options)];
  if (mount.fsType === "proc" && isOfEnded(target, mount, options))
    return [finding("task-ended", object, task)];
  return target.endsWith(DELETED) ? [...lock, ...checkGhost(task, { path, object }, options)] : lock;
}

interface OpenFile {
  /** The magic link to the open file itself, never to what its path has come to mean. */
  readonly path: string;
  readonly object: string;
}

function checkDevice(
  task: Task,
  { path, object }: OpenFile,
  { emptyNet }: DescriptorCheckOptions,
): Finding[] {
  const node = statSync(path, { throwIfNoEntry: false });
  if (node?.isBlockDevice()) return [finding("descriptor-device", object, task)];
  if (!node?.isCharacterDevice()) return [];
  if (!isDumpableDevice(node.rdev)) return [finding("descriptor-device", object, task)];
  return isTun(node.rdev) && emptyNet ? [finding("descriptor-tun", object, task)] : [];
}

/** criu/files-reg.c, dump_ghost_file: what counts is what the file takes on disk, not how long it is. */
function checkGhost(task: Task, { path, object }: OpenFile, options: DescriptorCheckOptions): Finding[] {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined || !file.isFile()) return [];
  if (file.nlink > 0) return options.linkRemap ? [] : [finding("link-remap", object, task)];
  const bytes = file.blocks * BLOCK_BYTES;
  return bytes > options.ghostLimitBytes ? [finding("ghost-size", `${object}, ${bytes} bytes`, task)] : [];
}

/** A file below /proc/PID where there is no such process any more. */
function isOfEnded(
  target: string,
  { mountPoint }: MountInfo,
  { innerPids }: DescriptorCheckOptions,
): boolean {
  const pid = target.startsWith(`${mountPoint}/`)
    ? /^\d+(?=\/|$)/.exec(target.slice(mountPoint.length + 1))?.[0]
    : undefined;
  return pid !== undefined && !innerPids.has(Number(pid));
}

function isMqueue(path: string): boolean {
  try {
    return statfsSync(path).type === MQUEUE_MAGIC;
  } catch {
    return false;
  }
}

function infoOf(task: Task, fd: number, { proc }: DescriptorCheckOptions): string {
  return readText(`${proc}/${task.pid}/fdinfo/${fd}`) ?? "";
}

function flagsOf(info: string): number {
  return Number.parseInt(/^flags:\s*([0-7]+)/m.exec(info)?.[1] ?? "0", 8);
}

function mountIdOf(info: string): number | undefined {
  const id = /^mnt_id:\s*(\d+)/m.exec(info)?.[1];
  return id === undefined ? undefined : Number(id);
}
