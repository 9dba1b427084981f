import type { MountInfo } from "@drums/nsexec/proc";
import { type Finding, finding } from "./rules.js";

/**
 * The kinds of filesystem that the field record refuses before a dump. Stricter than CRIU: docs/criu-rules.md says of
 * each what CRIU does with it.
 */
export const FIELD_RECORD_KINDS: readonly string[] = [
  "configfs",
  "securityfs",
  "debugfs",
  "tracefs",
  "bpf",
  "pstore",
  "efivarfs",
  "fusectl",
  "cgroup",
  "cgroup2",
  "selinuxfs",
];

/** A finding for each mount of a kind on the list. */
export function checkFieldRecord(mounts: readonly MountInfo[]): Finding[] {
  return mounts
    .filter(({ fsType }) => FIELD_RECORD_KINDS.includes(fsType))
    .map(({ mountPoint, fsType }) => finding("mount-field-record", `${mountPoint} (${fsType})`));
}
