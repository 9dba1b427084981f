import { execa } from "execa";
import type { Criu } from "./install/find.js";

/**
 * What `criu check --feature NAME` can be asked (criu/cr-check.c, feature_list): the names of 4.1.1, 4.2.1 and 4.3
 * together.
 */
export const FEATURES = [
  "aio_remap",
  "apparmor_stacking",
  "autofs",
  "binfmt_misc_sandboxing",
  "breakpoints",
  "can_map_vdso",
  "cgroupns",
  "clone3_set_tid",
  "compat_cr",
  "external_net_ns",
  "fdinfo_lock",
  "get_rseq_conf",
  "has_ipt_legacy",
  "ipv6_freebind",
  "link_nsid",
  "loginuid",
  "mem_dirty_track",
  "memfd_hugetlb",
  "move_mount_set_group",
  "net_diag_raw",
  "network_lock_nftables",
  "newifindex",
  "nftables",
  "nsid",
  "openat2",
  "overlayfs_maps",
  "pagemap_scan",
  "pagemap_scan_guard_pages",
  "pidfd_store",
  "seccomp_filters",
  "seccomp_suspend",
  "sk_ns",
  "sk_unix_file",
  "sockopt_buf_lock",
  "tcp_half_closed",
  "timer_cr_ids",
  "timerfd",
  "tun",
  "uffd",
  "uffd-noncoop",
  "userns",
] as const;

export type FeatureName = (typeof FEATURES)[number];

/** `unknown` where this version of CRIU does not know the name. */
export type FeatureState = "available" | "missing" | "unknown";

/** How many criu run at a time: each probes the kernel for some 60 ms. */
const AT_ONCE = 4;

/**
 * Asks CRIU for each feature whether it and this kernel have it: one process a feature, a second or two together.
 * @param criu what to ask @param options.names default: all of {@link FEATURES}
 */
export async function checkFeatures(
  criu: Criu,
  { names = FEATURES }: { readonly names?: readonly FeatureName[] } = {},
): Promise<Partial<Record<FeatureName, FeatureState>>> {
  const states: Partial<Record<FeatureName, FeatureState>> = {};
  const waiting = [...names];
  const ask = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      states[name] = await featureState(criu, name);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return states;
}

async function featureState(criu: Criu, name: FeatureName): Promise<FeatureState> {
  const { exitCode, stderr, stdout } = await execa(criu.file, [...criu.argv, "check", "--feature", name], {
    reject: false,
  });
  if (`${stdout}\n${stderr}`.includes(`Unknown feature ${name}`)) return "unknown";
  return exitCode === 0 ? "available" : "missing";
}
