import { callNative } from "../errors.js";
import { SOCK } from "./constants.js";
import { native } from "./native.js";

/** SO_PEERCRED: who called connect(2), listen(2) or socketpair(2) at the far end, at that time. */
export interface PeerCredentials {
  /** As our own pid namespace sees it; 0 where it cannot. */
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/** Options of {@link connectUnix}. */
export interface ConnectOptions {
  /** Default "stream". */
  readonly type?: "stream" | "seqpacket";
  /**
   * Connect as this user: the call happens on a thread of its own that takes the ids by the raw
   * system calls, has no other groups and ends with the call, so that SO_PEERCRED at the far end
   * shows them and this process stays who it is.
   */
  readonly uid?: number;
  /** Default: the uid. Only with `uid`. */
  readonly gid?: number;
}

/** socketpair(AF_UNIX, SOCK_SEQPACKET): two connected descriptors, both close-on-exec and blocking. */
export function socketpairSeqpacket(): [number, number] {
  return callNative(() => native().socketpair(SOCK.seqpacket));
}

/**
 * Connects to a UNIX socket and returns its descriptor, non-blocking and close-on-exec.
 * Never waits: a listener whose backlog is full gives EAGAIN.
 * @throws SyscallError with the path
 */
export function connectUnix(path: string, options: ConnectOptions = {}): number {
  const { type = "stream", uid, gid = uid } = options;
  return callNative(() => native().connectUnix(path, SOCK[type], uid, gid));
}

/** getsockopt(SO_PEERCRED) of a connected UNIX socket. */
export function peerCredentials(fd: number): PeerCredentials {
  return callNative(() => native().peerCredentials(fd));
}

/** Sends one packet with descriptors (SCM_RIGHTS). Never waits: EAGAIN where the peer's queue is full. */
export function sendPacket(fd: number, data: Buffer, fds: readonly number[] = []): void {
  callNative(() => native().sendPacket(fd, data, fds));
}

/** One packet: its bytes and the descriptors that came with it, which are then the caller's to close. */
export interface Packet {
  readonly data: Buffer;
  readonly fds: readonly number[];
}

/**
 * Receives one whole packet, or undefined where none waits; empty data means that the peer is gone.
 * A packet above `maxBytes` (default 1 MiB) is dropped whole. @throws SyscallError code EMSGSIZE for it
 */
export function receivePacket(fd: number, { maxBytes = 1 << 20 } = {}): Packet | undefined {
  return callNative(() => native().receivePacket(fd, maxBytes)) ?? undefined;
}
