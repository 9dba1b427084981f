import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A stand-in for an X server that a hostile session put there: it answers whatever the test says. */
export interface FakeServer {
  connect(): net.Socket;
  stop(): Promise<void>;
}

/** `talk` gets the client's socket; the first data on it is the connection setup. */
export async function fakeServer(talk: (socket: net.Socket) => void): Promise<FakeServer> {
  const folder = await mkdtemp(join(tmpdir(), "drums-readiness-"));
  const path = join(folder, "X0");
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    connect: () => net.connect(path),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export interface SetupLies {
  readonly resourceMask?: number;
  readonly screens?: number;
  readonly minKeycode?: number;
  readonly maxKeycode?: number;
}

/** A well-formed setup answer for one 1280x800 screen, but for what the test bends. */
export function setupAnswer(lies: SetupLies = {}): Buffer {
  const answer = Buffer.alloc(8 + 32 + 8 + 40);
  answer[0] = 1;
  answer.writeUInt16LE(11, 2);
  answer.writeUInt16LE((answer.length - 8) / 4, 6);
  answer.writeUInt32LE(0x20_0000, 12);
  answer.writeUInt32LE(lies.resourceMask ?? 0x1f_ffff, 16);
  answer.writeUInt16LE(5, 24);
  answer[28] = lies.screens ?? 1;
  answer[34] = lies.minKeycode ?? 8;
  answer[35] = lies.maxKeycode ?? 255;
  answer.write("Hosti", 40, "latin1");
  answer.writeUInt32LE(0x50d, 48);
  answer.writeUInt16LE(1280, 68);
  answer.writeUInt16LE(800, 70);
  return answer;
}

/** A reply to request number `sequence`, with `body` from byte 8 on. */
export function reply(sequence: number, body: Buffer = Buffer.alloc(24), detail = 0): Buffer {
  const packet = Buffer.alloc(Math.max(8 + body.length, 32));
  packet[0] = 1;
  packet[1] = detail;
  packet.writeUInt16LE(sequence, 2);
  packet.writeUInt32LE((packet.length - 32) / 4, 4);
  body.copy(packet, 8);
  return packet;
}
