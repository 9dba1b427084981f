import type { MountStep } from "../plan/schema.js";

/** Files and folders that tell of the kernel or of the machine; hidden. */
const HIDDEN: readonly string[] = [
  "/proc/kcore",
  "/proc/keys",
  "/proc/timer_list",
  "/proc/kallsyms",
  "/proc/kmsg",
  "/proc/kpagecount",
  "/proc/kpageflags",
  "/proc/kpagecgroup",
  "/proc/config.gz",
  "/proc/latency_stats",
  "/proc/sched_debug",
  "/proc/acpi",
  "/proc/scsi",
  "/proc/asound",
  "/sys/firmware",
  "/sys/kernel",
  "/sys/fs",
];

/** Parts of /proc through which the kernel is set; readable only. */
const READ_ONLY: readonly string[] = [
  "/proc/sys",
  "/proc/irq",
  "/proc/bus",
  "/proc/fs",
  "/proc/sysrq-trigger",
];

/** Hides what {@link HIDDEN} names and makes read-only what is set through; what a kernel lacks is passed over. */
export function maskSteps(): MountStep[] {
  return [
    ...READ_ONLY.map((target): MountStep => ({ kind: "readOnly", target })),
    ...HIDDEN.map((target): MountStep => ({ kind: "mask", target })),
  ];
}
