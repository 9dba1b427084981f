import { criu_cg_mode, criu_network_lock_method } from "../gen/rpc_pb.js";
import type { CriuOptions } from "../rpc/messages.js";

/** A mount of the session whose content lies outside it (`--external mnt[…]`). */
export interface ExternalMount {
  /** Where it is mounted in the session. */
  readonly mountPoint: string;
  /** The name that joins dump and restore. */
  readonly key: string;
}

/** An external mount with what it is bound to at a restore. */
export interface ExternalBind extends ExternalMount {
  /** Path in the restore's mount namespace. */
  readonly hostPath: string;
}

/** What a dump was told and a restore must repeat. */
export interface CheckpointFlags {
  /** Save file locks. A restore without it loses them in silence. */
  readonly fileLocks: boolean;
  /** Keep files whose name is gone while another hard link remains. */
  readonly linkRemap: boolean;
  /** Save established TCP connections instead of refusing them. */
  readonly tcpEstablished: boolean;
  /**
   * Leave open TCP connections out: the dumped tree keeps them, a restored one finds them closed. For ends that lie
   * outside of the dump, which could not go on twice. Wins over `tcpEstablished`.
   */
  readonly tcpClose: boolean;
  /** Largest unlinked file that is saved, in bytes. */
  readonly ghostLimitBytes: number;
  /**
   * The net namespace is not saved but made anew with lo up alone: 50 ms less frozen, 45 ms less to restore.
   * For a session with other interfaces, routes or net sysctls of its own set it to false.
   */
  readonly emptyNet: boolean;
  /** What lies in tmpfs mounts is kept as it is instead of packed by gzip: ten times as fast, and as large as it is. */
  readonly plainTmpfs: boolean;
}

/** The flags of a dump that is told nothing. CRIU's own ghost limit is 1 MiB. */
export const DEFAULT_FLAGS: CheckpointFlags = {
  fileLocks: true,
  linkRemap: true,
  tcpEstablished: false,
  tcpClose: false,
  ghostLimitBytes: 512 * 1024 * 1024,
  emptyNet: true,
  plainTmpfs: true,
};

/** clone(2) */
const CLONE_NEWNET = 0x4000_0000;

/** The options that a dump and its restores share. Cgroups are the caller's matter, the net is not locked. */
export function sharedOptions(flags: CheckpointFlags): CriuOptions {
  return {
    fileLocks: flags.fileLocks,
    linkRemap: flags.linkRemap,
    tcpEstablished: flags.tcpEstablished,
    tcpClose: flags.tcpClose,
    ghostLimit: flags.ghostLimitBytes,
    manageCgroupsMode: criu_cg_mode.IGNORE,
    networkLock: criu_network_lock_method.SKIP,
    ...(flags.emptyNet ? { emptyNs: CLONE_NEWNET } : {}),
  };
}
