import type { CheckpointFlags } from "../../src/index.js";

/** What is done from the host once a case's object stands. */
export type Hands =
  /** A process of the host traces the case's process. */
  | "trace"
  /** A process is entered into the session's namespaces that does not descend from its init. */
  | "enter"
  /** The same, and it connects to the case's socket /home/socket. */
  | "enter-connect"
  /** A process of the host connects to the case's socket /home/socket through the session's root. */
  | "connect";

/** One kernel object or state, and how its session is made and dumped. */
export interface CorpusCase {
  /** Names it in the record and the matrix. */
  readonly id: string;
  /** The program's case. Default: the id. */
  readonly run?: string;
  /** Flags of dump and restore that differ from the default. */
  readonly flags?: Partial<CheckpointFlags>;
  readonly hands?: Hands;
  /** The overlay without index and nfs_export. */
  readonly plainOverlay?: boolean;
  /** A folder of the host is bound to /mnt; named as an external or not. */
  readonly bind?: "unnamed" | "named";
  /** An ext4 filesystem of a loop device is mounted on /mnt. */
  readonly loop?: boolean;
  /** The program is PID 1 itself, without an init; what it has for stdin. */
  readonly bare?: "file" | "socket" | "nothing" | "no-setsid";
}

/** Cases that differ from the program's own by how their session is made, dumped or met. */
export const VARIANTS: readonly CorpusCase[] = [
  { id: "file_deleted_large_over_limit", run: "file_deleted_large", flags: { ghostLimitBytes: 1 << 20 } },
  { id: "file_deleted_sparse_over_limit", run: "file_deleted_sparse", flags: { ghostLimitBytes: 1 << 20 } },
  { id: "file_deleted_link_without_remap", run: "file_deleted_link", flags: { linkRemap: false } },
  { id: "lock_posix_without_flag", run: "lock_posix", flags: { fileLocks: false } },
  { id: "lock_flock_without_flag", run: "lock_flock", flags: { fileLocks: false } },
  { id: "lock_ofd_without_flag", run: "lock_ofd", flags: { fileLocks: false } },
  { id: "lock_lease_without_flag", run: "lock_lease", flags: { fileLocks: false } },
  { id: "inotify_upper_plain_overlay", run: "inotify_upper", plainOverlay: true },
  { id: "inotify_lower_plain_overlay", run: "inotify_lower", plainOverlay: true },
  { id: "inotify_tmpfs_plain_overlay", run: "inotify_tmpfs", plainOverlay: true },
  { id: "fanotify_overlay_plain_overlay", run: "fanotify_overlay", plainOverlay: true },
  { id: "tcp_established_kept", run: "tcp_established", flags: { tcpEstablished: true } },
  { id: "tcp_established_left_out", run: "tcp_established", flags: { tcpClose: true } },
  { id: "tcp_unaccepted_kept", run: "tcp_unaccepted", flags: { tcpEstablished: true } },
  { id: "tcp_unaccepted_left_out", run: "tcp_unaccepted", flags: { tcpClose: true } },
  { id: "tcp_close_wait_kept", run: "tcp_close_wait", flags: { tcpEstablished: true } },
  { id: "tcp_syn_sent_kept", run: "tcp_syn_sent", flags: { tcpEstablished: true } },
  { id: "tcp_listening_net_saved", run: "tcp_listening", flags: { emptyNet: false } },
  { id: "namespace_net_saved", run: "namespace_net", flags: { emptyNet: false } },
  { id: "ping_allowed", run: "ping", bare: "nothing" },
  { id: "device_tun_net_saved", run: "device_tun", flags: { emptyNet: false } },
  { id: "task_traced_outside", run: "nothing", hands: "trace" },
  { id: "task_outside_tree", run: "nothing", hands: "enter" },
  { id: "unix_peer_outside_tree", run: "unix_served", hands: "enter-connect" },
  { id: "unix_peer_on_host", run: "unix_served", hands: "connect" },
  { id: "inotify_external_named", run: "inotify_external", bind: "named" },
  { id: "mount_external_unnamed", run: "mount_external", bind: "unnamed" },
  { id: "mount_external_named", run: "mount_external", bind: "named" },
  { id: "mount_ext4_of_loop", run: "mount_ext4", loop: true },
  { id: "leaked_file", run: "nothing", bare: "file" },
  { id: "leaked_socket", run: "nothing", bare: "socket" },
  { id: "task_leader_outside", run: "nothing", bare: "no-setsid" },
];

/** Cases of the program that mean nothing without a variant's session. */
const ONLY_VARIANTS = new Set(["inotify_external", "mount_external", "mount_ext4", "unix_served"]);

/** Every case: those of the program as they are, then the variants. */
export function corpusCases(programNames: readonly string[]): CorpusCase[] {
  const plain = programNames.filter((name) => !ONLY_VARIANTS.has(name)).map((id) => ({ id }));
  return [...plain, ...VARIANTS];
}
