import { statSync } from "node:fs";
import type { MountInfo } from "@drums/nsexec/proc";
import { readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Descriptor, Task } from "./snapshot.js";

/** Names of anonymous inodes that CRIU refused: `parasite.c: send_fds failed` or `Can't dump file N of that type`. */
const REFUSED_ANON =
  /^anon_inode:\[?(io_uring|userfaultfd|perf_event|bpf-map|bpf-prog|bpf_link|bpf_iter|btf|landlock-ruleset|kvm)/;
/** open(2): PIDFD_THREAD is O_EXCL; fdinfo shows flags in octal. */
const O_EXCL = 0o200;
/** Links that look like paths and are files without a mount of their own. */
const INTERNAL_FILE = /^\/(memfd:|SYSV[0-9a-f]{8}|dev\/zero \(deleted\)|\[aio\]|i915|drm mm object)/;
const DELETED = " (deleted)";

/** What the descriptor checks are told. */
export interface DescriptorCheckOptions {
  readonly proc: string;
  /** The mount table of the task's own mount namespace, by mount id. */
  readonly mounts: ReadonlyMap<number, MountInfo>;
  readonly ghostLimitBytes: number;
}

/** Checks every descriptor of a task. Sockets are judged apart, over the whole tree. */
export function checkDescriptors(task: Task, options: DescriptorCheckOptions): Finding[] {
  return task.descriptors.flatMap((descriptor) => checkDescriptor(task, descriptor, options));
}

function checkDescriptor(task: Task, descriptor: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const { fd, target } = descriptor;
  const object = `fd ${fd} ${target}`;
  if (target === "anon_inode:inotify") return checkInotify(task, descriptor, options);
  if (REFUSED_ANON.test(target) || target.startsWith("/secretmem"))
    return [finding("descriptor-anon", object, task)];
  if (target === "anon_inode:[pidfd]")
    return isThreadPidfd(task, fd, options)
      ? [finding("descriptor-anon", `${object} of a thread`, task)]
      : [];
  if (!target.startsWith("/") || INTERNAL_FILE.test(target)) return [];
  return checkFile(task, descriptor, options);
}

function checkFile(task: Task, { fd, target }: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const object = `fd ${fd} ${target}`;
  const mountId = mountIdOf(infoOf(task, fd, options));
  if (mountId === undefined) return []; // closed meanwhile, or its process has ended
  const mount = options.mounts.get(mountId);
  if (mount === undefined) return [finding("descriptor-foreign-mount", object, task)];
  if (mount.fsType === "mqueue")
    return target.startsWith("/") && isFile(task, fd, options)
      ? [finding("descriptor-mqueue", object, task)]
      : [];
  if (target.startsWith("/dev/")) return checkDevice(task, fd, object, options);
  return target.endsWith(DELETED) ? checkGhost(task, fd, object, options) : [];
}

function checkDevice(task: Task, fd: number, object: string, options: DescriptorCheckOptions): Finding[] {
  const node = statOf(task, fd, options);
  if (node === undefined || !node.isCharacterDevice()) return [];
  return isDumpableDevice(node.rdev) ? [] : [finding("descriptor-device", object, task)];
}

/** criu/files.c, dump_chrdev: memory devices, terminals and tun alone. Consoles cannot be tried here: refused. */
export function isDumpableDevice(rdev: number): boolean {
  const major = (rdev >> 8) & 0xfff;
  const minor = (rdev & 0xff) | ((rdev >> 12) & 0xfff00);
  if (major === 1) return [3, 5, 7, 8, 9].includes(minor);
  if (major === 5) return minor === 0 || minor === 2;
  if (major === 10) return minor === 200;
  return major >= 128 && major <= 143;
}

function checkGhost(task: Task, fd: number, object: string, options: DescriptorCheckOptions): Finding[] {
  const file = statOf(task, fd, options);
  if (file === undefined || !file.isFile() || file.nlink > 0 || file.size <= options.ghostLimitBytes)
    return [];
  return [finding("ghost-size", `${object}, ${file.size} bytes`, task)];
}

/** fdinfo shows `inotify wd:1 ino:2 sdev:20 …` with the device as the kernel's own number, major << 20 | minor. */
function checkInotify(task: Task, { fd }: Descriptor, options: DescriptorCheckOptions): Finding[] {
  const devices = new Set(
    [...infoOf(task, fd, options).matchAll(/ sdev:([0-9a-f]+)/g)].map(([, hex = "0"]) =>
      Number.parseInt(hex, 16),
    ),
  );
  return [...devices].flatMap((device) => {
    const mount = mountOfDevice(device, options.mounts);
    const object = `fd ${fd} inotify on ${mount?.mountPoint ?? `device ${device >>> 20}:${device & 0xfffff}`}`;
    if (mount?.fsType === "proc" || mount?.fsType === "sysfs")
      return [finding("inotify-no-handle", object, task)];
    const plain = mount?.fsType === "overlay" && !mount.superOptions.includes("nfs_export=on");
    return plain ? [finding("inotify-overlay", object, task)] : [];
  });
}

function mountOfDevice(device: number, mounts: ReadonlyMap<number, MountInfo>): MountInfo | undefined {
  const [major, minor] = [device >>> 20, device & 0xfffff];
  for (const mount of mounts.values()) if (mount.major === major && mount.minor === minor) return mount;
  return undefined;
}

function isThreadPidfd(task: Task, fd: number, options: DescriptorCheckOptions): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(infoOf(task, fd, options))?.[1] ?? "0";
  return (Number.parseInt(flags, 8) & O_EXCL) !== 0;
}

function infoOf(task: Task, fd: number, { proc }: DescriptorCheckOptions): string {
  return readText(`${proc}/${task.pid}/fdinfo/${fd}`) ?? "";
}

function mountIdOf(info: string): number | undefined {
  const id = /^mnt_id:\s*(\d+)/m.exec(info)?.[1];
  return id === undefined ? undefined : Number(id);
}

function isFile(task: Task, fd: number, options: DescriptorCheckOptions): boolean {
  return statOf(task, fd, options)?.isFile() ?? false;
}

/** Follows the magic link to the open file itself, never to what its path has come to mean. */
function statOf(task: Task, fd: number, { proc }: DescriptorCheckOptions) {
  return statSync(`${proc}/${task.pid}/fd/${fd}`, { throwIfNoEntry: false });
}
