import { basename } from "node:path";
import { CgroupError } from "./errors.js";
import type { CgroupFiles } from "./files.js";

/** What an errno of cgroupfs means and what to do about it. */
export interface ErrnoMeaning {
  readonly cause: string;
  readonly remedy: string;
}

// Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst and kernel/cgroup/cgroup.c.
const GENERAL: Readonly<Record<string, ErrnoMeaning>> = {
  EACCES: {
    cause: "the file's owner or mode forbids it",
    remedy: "run as root, or have the group delegated to this user (systemd: Delegate=yes)",
  },
  EPERM: {
    cause: "this process may not do that outside the subtree delegated to it",
    remedy: "run as root in the initial user namespace, or work below the delegated group",
  },
  EROFS: {
    cause: "cgroup2 is mounted read-only here",
    remedy: "remount it read-write, or start the container with a writable cgroup mount",
  },
  ENOENT: {
    cause: "the group, or the control file, is not there",
    remedy: "create the group first; a controller's files appear when its parent enables the controller",
  },
  EBUSY: {
    cause: "the group is in use",
    remedy: "end or move its processes and remove its children first",
  },
  EOPNOTSUPP: {
    cause: "the group's type does not allow it (threaded, or domain invalid)",
    remedy: "read cgroup.type; use a domain group outside threaded subtrees",
  },
  EINVAL: { cause: "the kernel does not take this value", remedy: "check the value and its unit" },
  ERANGE: { cause: "the value is out of the file's range", remedy: "check the value and its unit" },
  ENODEV: {
    cause: "the controller or device is not there",
    remedy: "check /proc/cgroups for a disabled controller, and the device's numbers",
  },
  EEXIST: { cause: "it is there already", remedy: "choose another name" },
  ENOSPC: {
    cause: "the kernel has no room for another group or value",
    remedy: "remove unused groups, or raise cgroup.max.descendants above",
  },
  EAGAIN: {
    cause: "a limit on depth or number of groups above is reached, or the kernel is busy",
    remedy: "raise cgroup.max.depth or cgroup.max.descendants above, or try again",
  },
  ESRCH: { cause: "no such process", remedy: "it has ended, or lives in another pid namespace" },
};

// Beyond what the kernel was booted with it is ERANGE, within that but not there EINVAL.
const NO_PROCESSOR: ErrnoMeaning = {
  cause: "this machine has no processor of one of these numbers",
  remedy: "see /sys/devices/system/cpu/possible",
};
const NO_NODE: ErrnoMeaning = {
  cause: "this machine has no memory node of one of these numbers",
  remedy: "see /sys/devices/system/node/has_memory",
};

const BY_FILE: Readonly<Record<string, ErrnoMeaning>> = {
  "cgroup.subtree_control:ENOENT": {
    cause: "the controller is not available in this group, as its parent does not enable it",
    remedy: "enable it in every group above, from the root down",
  },
  "cgroup.subtree_control:EBUSY": {
    cause: "the group holds processes itself, and an inner group with domain controllers must not",
    remedy: "move its processes into a child group first",
  },
  "cgroup.subtree_control:EINVAL": {
    cause: "the kernel knows no controller of this name",
    remedy: "name one that cgroup.controllers of the root lists",
  },
  "cgroup.subtree_control:EOPNOTSUPP": {
    cause:
      "the group is threaded or has threaded children, and domain controllers (memory, io) cannot be enabled there",
    remedy: "read cgroup.type; make the group outside of threaded subtrees",
  },
  "cgroup.type:EOPNOTSUPP": {
    cause:
      "the group holds processes or enables domain controllers, or its parent cannot have threaded children",
    remedy: "make an empty group threaded, below one that enables no domain controller (memory, io)",
  },
  "cgroup.procs:EBUSY": {
    cause: "the group enables domain controllers (memory, io) for its children, so it may hold no processes",
    remedy: "put the process into a leaf group",
  },
  "cpu.max:EINVAL": {
    cause: "the kernel takes quotas and periods from 1 ms, and periods to 1 s",
    remedy: "give quotaUsec and periodUsec from 1000, and periodUsec to 1000000",
  },
  "cpuset.cpus:EINVAL": NO_PROCESSOR,
  "cpuset.cpus:ERANGE": NO_PROCESSOR,
  "cpuset.mems:EINVAL": NO_NODE,
  "cpuset.mems:ERANGE": NO_NODE,
  "io.max:ENODEV": {
    cause: "there is no whole disk of these numbers (a partition is none)",
    remedy: "name the disk by its MAJOR:MINOR: lsblk -d",
  },
  "misc.max:EINVAL": {
    cause: "this machine has no such resource",
    remedy: "name one that misc.capacity of the root lists",
  },
  "cgroup.procs:EOPNOTSUPP": {
    cause: "the group is threaded or domain invalid",
    remedy: "use cgroup.threads, or a domain group",
  },
  "cgroup.kill:ENOENT": {
    cause: "the kernel has no cgroup.kill (it came with Linux 5.14), or the group is gone",
    remedy: "use Linux 5.14 or newer",
  },
};

/**
 * Explains an errno of cgroupfs by its name and the file it came from.
 *
 * @param errno its name, such as `EBUSY`
 * @param options `file`: the control file or folder; some errnos mean something of their own there
 */
export function explainErrno(errno: string, options: { readonly file?: string } = {}): ErrnoMeaning {
  const special = options.file === undefined ? undefined : BY_FILE[`${basename(options.file)}:${errno}`];
  return (
    special ??
    GENERAL[errno] ?? { cause: errno, remedy: "see the errno in cgroups(7) and in the kernel's log" }
  );
}

/** The errno's name of a Node system error, if it is one. libuv says ENOTSUP for what Linux calls EOPNOTSUPP. */
export function errnoOf(error: unknown): string | undefined {
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
  return code === "ENOTSUP" ? "EOPNOTSUPP" : code;
}

/** Turns a Node system error into a {@link CgroupError} that says what was tried, where, and what to do. */
export function refused(error: unknown, attempt: string, path: string, syscall: string): CgroupError {
  const errno = errnoOf(error);
  const meaning = explainErrno(errno ?? "unknown error", { file: path });
  return new CgroupError("REFUSED", `cannot ${attempt}: ${errno ?? String(error)}: ${meaning.cause}`, {
    hint: meaning.remedy,
    path,
    errno,
    syscall,
    cause: error,
  });
}

/** Runs `body` and lets the errnos named pass. */
export function ignoring(errnos: readonly string[], body: () => void): void {
  try {
    body();
  } catch (error) {
    if (!(error instanceof CgroupError) || !errnos.includes(error.errno ?? "")) throw error;
  }
}

/**
 * The text of a control file, undefined where it is not there. ENOENT: no such group, or no such controller in it;
 * EOPNOTSUPP: pressure is switched off (psi=0, cgroup.pressure); ENODEV: the group was removed.
 */
export function readIfThere(files: CgroupFiles, file: string): string | undefined {
  try {
    return files.read(file);
  } catch (error) {
    if (error instanceof CgroupError && ["ENOENT", "EOPNOTSUPP", "ENODEV"].includes(error.errno ?? ""))
      return undefined;
    throw error;
  }
}
