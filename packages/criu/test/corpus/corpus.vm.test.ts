import { readFileSync, writeFileSync } from "node:fs";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { DEFAULT_VERSION } from "../../src/index.js";
import { compare, RECORDING } from "./compare.js";

/** The guest forbids io_uring, for a Node process's own; a case makes one. */
const IO_URING = "/proc/sys/kernel/io_uring_disabled";

async function withIoUring(body: () => Promise<void>): Promise<void> {
  const before = readFileSync(IO_URING, "utf8");
  writeFileSync(IO_URING, "0");
  await body().finally(() => writeFileSync(IO_URING, before));
}

/**
 * The plainest case, and what a kernel decides by its age, its configuration, its drivers or its cgroup hierarchy.
 * The guest computes too slowly for all of them in every run.
 */
const DECIDED_BY_KERNEL = [
  "nothing",
  "algorithm",
  "device_tun_net_saved",
  "fanotify_overlay",
  "inotify_queued",
  "io_uring",
  "key",
  "landlock_enforced",
  "memory_droppable",
  "memory_guarded",
  "memory_hugetlb",
  "memory_keyed",
  "memory_named",
  "memory_sealed",
  "mount_cgroup",
  "mount_cgroup2",
  "mount_configfs",
  "mount_efivarfs",
  "mount_ext4_of_loop",
  "mount_selinuxfs",
  "namespace_cgroup",
  "pidfd_thread",
  "ping",
  "task_affinity",
  "tcp_listening",
  "udp_queued",
  "unix_urgent",
  "vsock",
];

testNeeding(
  ["root", "program:ip", "program:mke2fs", "loop", "cgroup2"],
  `on the guest's kernel the cases that it decides come with CRIU ${DEFAULT_VERSION} as the audit foretells`,
  () =>
    withIoUring(() =>
      compare(DEFAULT_VERSION, { only: RECORDING ? undefined : DECIDED_BY_KERNEL, patience: 6 }),
    ),
  1_800_000,
);
