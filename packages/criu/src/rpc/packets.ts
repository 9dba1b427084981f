import { sys } from "@drums/nsexec";

/** Packets of a SEQPACKET socket, one at a time, read on Node's own loop. Owns the descriptor. */
export interface PacketSocket {
  send(packet: Buffer): void;
  /** The next packet; empty data where the peer is gone. */
  next(): Promise<sys.Packet>;
  close(): void;
}

/** The largest packet that is accepted; CRIU's own are below 1 KiB unless the log's last error is long. */
const MAX_PACKET_BYTES = 64 << 20;
const PEER_GONE: sys.Packet = { data: Buffer.alloc(0), fds: [] };

/** Wraps one end of a socket pair. */
export function packetSocket(fd: number, closeFd: (fd: number) => void): PacketSocket {
  let closed = false;
  const next = (): Promise<sys.Packet> =>
    new Promise((resolve, reject) => {
      const watch = sys.watchFd(fd, () => {
        try {
          const packet = receive(fd);
          if (packet === undefined) return;
          watch.close();
          resolve(packet);
        } catch (error) {
          watch.close();
          reject(error);
        }
      });
      pending = () => {
        watch.close();
        resolve(PEER_GONE);
      };
    });
  let pending = () => {};
  return {
    send: (packet) => sys.sendPacket(fd, packet),
    next,
    close: () => {
      if (closed) return;
      closed = true;
      pending();
      closeFd(fd);
    },
  };
}

/** unix(7): a peer that closed with unread data in its queue gives ECONNRESET instead of an end. */
function receive(fd: number): sys.Packet | undefined {
  try {
    return sys.receivePacket(fd, { maxBytes: MAX_PACKET_BYTES });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return PEER_GONE;
    throw error;
  }
}
