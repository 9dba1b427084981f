import { closeSync, openSync } from "node:fs";
import { sys } from "@drums/nsexec";

export type { MountStep } from "./launcher-tmp.js";

import type { Criu } from "../install/find.js";
import { type MountStep, runInMounts } from "./launcher-tmp.js";
import { type PacketSocket, packetSocket } from "./packets.js";

/** How criu is started. */
export interface StartOptions {
  /** Mounts made in a private mount namespace of criu's own, in order. Default: none, in the caller's namespace. */
  readonly mounts?: readonly MountStep[];
  /** A cgroup2 folder's descriptor: criu, and so what it restores, is born in that group. */
  readonly cgroupFd?: number;
  /** File that takes what criu writes to stderr before its log is open. Default /dev/null. */
  readonly errorFile?: string;
  /** Default: PATH alone, for `ip`, `tar` and `gzip`; no HOME, so that no user's criu.conf is read. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A running `criu swrk`. */
export interface Swrk {
  readonly pid: number;
  readonly socket: PacketSocket;
  /** Its end; it has been reaped then. */
  readonly ended: Promise<sys.ExitStatus | undefined>;
  kill(signal: NodeJS.Signals): void;
}

const SOCKET_FD = 3;

/** Starts `criu swrk 3` with one end of a SEQPACKET pair as descriptor 3. */
export async function startSwrk(criu: Criu, options: StartOptions = {}): Promise<Swrk> {
  const [near, far] = sys.socketpairSeqpacket();
  const quiet = openSync("/dev/null", "r+");
  const errors = openSync(options.errorFile ?? "/dev/null", "a");
  try {
    const child = await startChild(criu, options, [
      { source: quiet, target: 0 },
      { source: quiet, target: 1 },
      { source: errors, target: 2 },
      { source: far, target: SOCKET_FD },
    ]);
    return { ...child, socket: packetSocket(near, closeSync) };
  } catch (error) {
    closeSync(near);
    throw error;
  } finally {
    for (const fd of [far, quiet, errors]) closeSync(fd);
  }
}

async function startChild(
  criu: Criu,
  options: StartOptions,
  fds: sys.FdMapping[],
): Promise<Omit<Swrk, "socket">> {
  const argv = [criu.file, ...criu.argv, "swrk", String(SOCKET_FD)];
  const env = options.env ?? { PATH: process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin" };
  const cgroup = options.cgroupFd === undefined ? {} : { cgroupFd: options.cgroupFd };
  if (options.mounts === undefined) return directChild({ file: criu.file, argv, env, fds, ...cgroup });
  const child = await runInMounts({
    hostMounts: [...options.mounts],
    file: criu.file,
    argv,
    env,
    fds,
    ...cgroup,
  });
  return { pid: child.pid, ended: child.exited, kill: (signal) => child.kill(signal) };
}

function directChild(order: sys.CloneExecOptions): Omit<Swrk, "socket"> {
  const { pid, pidfd } = sys.clone3Exec(order);
  let running = true;
  const ended = sys.pidfdWait(pidfd).finally(() => {
    running = false;
    closeSync(pidfd);
  });
  return { pid, ended, kill: (signal) => running && sys.pidfdSendSignal(pidfd, signal) };
}
