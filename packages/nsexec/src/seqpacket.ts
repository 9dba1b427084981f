import { closeSync } from "node:fs";
import { NsexecError, SyscallError } from "./errors.js";
import { type Packet, receivePacket, sendPacket } from "./syscalls/socket.js";
import { type Watch, watchFd } from "./syscalls/watch.js";

/** Options of {@link SeqpacketChannel}. */
export interface ChannelOptions {
  /** The largest packet taken, default 1 MiB; a larger one is dropped and rejects with EMSGSIZE. */
  readonly maxBytes?: number;
  /** Default false: descriptors that a peer sends unasked are closed at once. */
  readonly acceptFds?: boolean;
}

/** Options of {@link SeqpacketChannel.receive}. */
export interface ReceiveOptions {
  /** Default: waits without end. */
  readonly timeoutMs?: number;
}

interface Waiter {
  resolve(packet: Packet | undefined): void;
  reject(error: unknown): void;
}

/**
 * A connected SEQPACKET socket on Node's loop: whole packets, with the descriptors that came along.
 * It owns its descriptor, and keeps the process alive only while somebody waits.
 */
export class SeqpacketChannel {
  readonly #fd: number;
  readonly #maxBytes: number;
  readonly #acceptFds: boolean;
  readonly #waiters: Waiter[] = [];
  #watch: Watch | undefined;
  #open = true;

  constructor(fd: number, options: ChannelOptions = {}) {
    this.#fd = fd;
    this.#maxBytes = options.maxBytes ?? 1 << 20;
    this.#acceptFds = options.acceptFds ?? false;
  }

  /** Sends one packet. @throws SyscallError EAGAIN where the peer does not read, EPIPE where it is gone */
  send(data: Buffer, fds: readonly number[] = []): void {
    if (!this.#open) throw closedChannel();
    sendPacket(this.#fd, data, fds);
  }

  /**
   * The next packet, or undefined once the peer has closed. Calls are served in order.
   * @throws NsexecError code TIMEOUT, CHANNEL_CLOSED; SyscallError EMSGSIZE
   */
  receive(options: ReceiveOptions = {}): Promise<Packet | undefined> {
    if (!this.#open) return Promise.reject(closedChannel());
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      this.#waiters.push(
        options.timeoutMs === undefined ? waiter : this.#withTimeout(waiter, options.timeoutMs),
      );
      this.#watch ??= watchFd(this.#fd, () => this.#serve());
    });
  }

  /** Closes the socket; whoever still waits gets CHANNEL_CLOSED. Safe to call twice. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#rest();
    closeSync(this.#fd);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(closedChannel());
  }

  #serve(): void {
    for (let waiter = this.#waiters[0]; waiter !== undefined; waiter = this.#waiters[0]) {
      try {
        const packet = this.#receiveNow();
        if (packet === undefined) return;
        this.#waiters.shift();
        waiter.resolve(packet.data.length === 0 ? undefined : this.#admit(packet));
      } catch (error) {
        this.#waiters.shift();
        waiter.reject(error);
      }
    }
    this.#rest();
  }

  /**
   * A peer that ended with our packets unread resets the connection (unix_release_sock in net/unix/af_unix.c). The
   * kernel tells that once, and before what the peer had sent: that is read on, and then comes the end.
   */
  #receiveNow(): Packet | undefined {
    try {
      return receivePacket(this.#fd, { maxBytes: this.#maxBytes });
    } catch (error) {
      if (!(error instanceof SyscallError && error.code === "ECONNRESET")) throw error;
      return receivePacket(this.#fd, { maxBytes: this.#maxBytes });
    }
  }

  #admit(packet: Packet): Packet {
    if (this.#acceptFds) return packet;
    for (const fd of packet.fds) closeSync(fd);
    return { data: packet.data, fds: [] };
  }

  #rest(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  #withTimeout(waiter: Waiter, timeoutMs: number): Waiter {
    const timed: Waiter = {
      resolve: (packet) => {
        clearTimeout(timer);
        waiter.resolve(packet);
      },
      reject: (error) => {
        clearTimeout(timer);
        waiter.reject(error);
      },
    };
    const timer = setTimeout(() => {
      this.#waiters.splice(this.#waiters.indexOf(timed), 1);
      if (this.#waiters.length === 0) this.#rest();
      waiter.reject(
        new NsexecError("TIMEOUT", `no packet came within ${timeoutMs} ms`, { hint: "The peer may hang." }),
      );
    }, timeoutMs);
    return timed;
  }
}

function closedChannel(): NsexecError {
  return new NsexecError("CHANNEL_CLOSED", "the channel has been closed on this side");
}
