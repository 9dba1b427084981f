import { closeSync, fstatSync, openSync } from "node:fs";
import {
  type IdMap,
  type MountStep,
  type NativeChild,
  runInMounts,
  SeqpacketChannel,
  spawnNative,
  sys,
} from "@drums/nsexec";
import type { Criu } from "../install/find.js";

/** How criu is started. */
export interface StartOptions {
  /** Mounts made in a private mount namespace of criu's own, in order. Default: none, in the caller's namespace. */
  readonly mounts?: readonly MountStep[];
  /** For id-mapped layers among the mounts. */
  readonly idMap?: IdMap;
  /** The kernel may merge equal memory of criu and of what it restores (KSM). Default false. */
  readonly mergeMemory?: boolean;
  /** A cgroup2 folder's descriptor: criu, and so what it restores, is born in that group. */
  readonly cgroupFd?: number;
  /** File that takes what criu writes to stderr before its log is open. Default /dev/null. */
  readonly errorFile?: string;
  /** Descriptors of this process that criu holds too, under numbers from {@link FIRST_PASSED_FD} on. Default: none. */
  readonly fds?: readonly number[];
  /** Default: PATH alone, for `ip`, `tar` and `gzip`; no HOME, so that no user's criu.conf is read. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running `criu swrk` and the near end of its socket. */
export interface Swrk {
  readonly child: NativeChild;
  readonly socket: SeqpacketChannel;
  /** Inode of criu's own end. */
  readonly socketInode: bigint;
}

const SOCKET_FD = 3;
/** Number that the first of a call's own descriptors has in criu; the next ones follow it. */
export const FIRST_PASSED_FD = 4;
/** Larger than any message; CRIU's own are below 1 KiB unless they carry a long error. */
const MAX_PACKET_BYTES = 64 << 20;

/** Starts `criu swrk 3` with one end of a SEQPACKET pair as descriptor 3. */
export async function startSwrk(criu: Criu, options: StartOptions = {}): Promise<Swrk> {
  const [near, far] = sys.socketpairSeqpacket();
  const socket = new SeqpacketChannel(near, { maxBytes: MAX_PACKET_BYTES });
  const quiet = openSync("/dev/null", "r+");
  const errors = openSync(options.errorFile ?? "/dev/null", "a");
  try {
    const child = await startChild(criu, options, [
      { source: quiet, target: 0 },
      { source: quiet, target: 1 },
      { source: errors, target: 2 },
      { source: far, target: SOCKET_FD },
      ...(options.fds ?? []).map((source, index) => ({ source, target: FIRST_PASSED_FD + index })),
    ]);
    return { child, socket, socketInode: fstatSync(far, { bigint: true }).ino };
  } catch (error) {
    socket.close();
    throw error;
  } finally {
    for (const fd of [far, quiet, errors]) closeSync(fd);
  }
}

async function startChild(criu: Criu, options: StartOptions, fds: sys.FdMapping[]): Promise<NativeChild> {
  const order = {
    file: criu.file,
    argv: [criu.file, ...criu.argv, "swrk", String(SOCKET_FD)],
    env: options.env ?? { PATH: process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin" },
    fds,
    ...(options.cgroupFd === undefined ? {} : { cgroupFd: options.cgroupFd }),
  };
  if (options.mounts === undefined) return spawnNative(order);
  const { mounts, idMap, mergeMemory = false } = options;
  return runInMounts({
    hostMounts: mounts,
    mergeMemory,
    ...(idMap === undefined ? {} : { idMap }),
    ...order,
  });
}
