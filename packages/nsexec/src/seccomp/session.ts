import { NsexecError } from "../errors.js";
import { CLONE_NEW } from "../syscalls/constants.js";
import { compileFilter, type FilterRule } from "./compile.js";

/** Mounts and namespaces: a session has all that it gets. */
const MOUNTS_AND_NAMESPACES = [
  "mount",
  "umount2",
  "pivot_root",
  "setns",
  "unshare",
  "open_tree",
  "open_tree_attr",
  "move_mount",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "mount_setattr",
  "statmount",
  "listmount",
  "sethostname",
  "setdomainname",
];

/** Parts of the kernel that a desktop does not need and that have been a way out before. */
const KERNEL = [
  "keyctl",
  "add_key",
  "request_key",
  "bpf",
  "perf_event_open",
  "userfaultfd",
  "open_by_handle_at",
  "name_to_handle_at",
  "kexec_load",
  "kexec_file_load",
  "init_module",
  "finit_module",
  "delete_module",
  "reboot",
  "swapon",
  "swapoff",
  "acct",
  "quotactl",
  "quotactl_fd",
  "iopl",
  "ioperm",
  "syslog",
  "fanotify_init",
  "lookup_dcookie",
  "vhangup",
  "modify_ldt",
];

/** The machine's clock, other processes' memory and descriptors, placement of memory. */
const MACHINE = [
  "settimeofday",
  "clock_settime",
  "adjtimex",
  "clock_adjtime",
  "move_pages",
  "migrate_pages",
  "mbind",
  "kcmp",
  "process_madvise",
  "pidfd_getfd",
];

/** ioctls that put input into a terminal as if it had been typed (asm-generic/ioctls.h). */
const TERMINAL_INPUT = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c } as const;

/** Socket families with a way past the network namespace or a record of holes (linux/socket.h). */
const FAMILIES = { ALG: 38, VSOCK: 40, XDP: 44 } as const;

const NEW_NAMESPACES = Object.values(CLONE_NEW).reduce((sum, flag) => sum + flag, 0) - CLONE_NEW.time;

/** What a session is refused. clone3 hides its flags from a filter: ENOSYS sends libc back to clone. */
export const SESSION_RULES: readonly FilterRule[] = [
  { calls: [...MOUNTS_AND_NAMESPACES, ...KERNEL, ...MACHINE], errno: "EPERM" },
  { calls: ["clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"], errno: "ENOSYS" },
  // CLONE_NEWTIME lies within clone's exit signal and is for unshare and clone3 only.
  { calls: ["clone"], errno: "EPERM", when: { argument: 0, anyBitOf: NEW_NAMESPACES } },
  ...Object.values(TERMINAL_INPUT).map(
    (request): FilterRule => ({ calls: ["ioctl"], errno: "EPERM", when: { argument: 1, equals: request } }),
  ),
  ...Object.values(FAMILIES).map(
    (family): FilterRule => ({
      calls: ["socket"],
      errno: "EAFNOSUPPORT",
      when: { argument: 0, equals: family },
    }),
  ),
];

/**
 * The filter that every process of a session runs under.
 * @throws NsexecError code ARCHITECTURE_UNSUPPORTED elsewhere than on x86-64, where it would refuse everything
 */
export function sessionFilter(): Buffer {
  if (process.arch !== "x64")
    throw new NsexecError("ARCHITECTURE_UNSUPPORTED", `there is no session filter for ${process.arch}`, {
      hint: "Launch sessions on x86-64, or leave `seccomp` out of the plan, which opens the kernel to them.",
    });
  return compileFilter(SESSION_RULES);
}
