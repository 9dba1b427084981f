import type { Box } from "../pixels/frame.js";
import { pad, printable } from "./setup.js";

// Requests of the core protocol and of the few extensions we use, as bytes, and their replies as values.
// Numbers and layouts: X11 protocol (Appendix B), XTEST 2.2, RandR 1.5, X-Resource 1.2, DAMAGE 1.1.
// A reader throws RangeError where the server's counts promise more than the packet holds.

/** A request with its reader; the connection sends the one and applies the other. */
export interface Call<Reply> {
  readonly packet: Buffer;
  read(reply: Buffer): Reply;
}

export interface Extension {
  readonly majorOpcode: number;
  readonly firstEvent: number;
}

export interface Property {
  /** Atom of its type; 0 when the window has no such property. */
  readonly type: number;
  readonly format: number;
  readonly bytesAfter: number;
  readonly data: Buffer;
}

export const getWindowAttributes = (
  window: number,
): Call<{ overrideRedirect: boolean; inputOnly: boolean; viewable: boolean }> => ({
  packet: withWindow(3, window),
  read: (reply) => ({
    inputOnly: reply.readUInt16LE(12) === 2,
    viewable: reply.readUInt8(26) === 2,
    overrideRedirect: reply.readUInt8(27) !== 0,
  }),
});

export const getGeometry = (window: number): Call<Box> => ({
  packet: withWindow(14, window),
  read: (reply) => ({
    x: reply.readInt16LE(12),
    y: reply.readInt16LE(14),
    width: reply.readUInt16LE(16),
    height: reply.readUInt16LE(18),
  }),
});

/** Parent and children, the bottom one first. */
export const queryTree = (window: number): Call<{ parent: number; children: number[] }> => ({
  packet: withWindow(15, window),
  read: (reply) => ({ parent: reply.readUInt32LE(12), children: cards(reply, 32, reply.readUInt16LE(16)) }),
});

/** Asks for an existing atom only: we leave nothing behind in the server. 0 when there is none. */
export const internAtom = (name: string): Call<number> => ({
  packet: withName(16, name, 1),
  read: (reply) => reply.readUInt32LE(8),
});

export const getAtomName = (atom: number): Call<string> => ({
  packet: withWindow(17, atom),
  read: (reply) => printable(slice(reply, 32, reply.readUInt16LE(8)).toString("latin1")),
});

export const getProperty = (window: number, property: number, maxBytes: number): Call<Property> => ({
  packet: request(20, [window, property, 0, 0, Math.ceil(maxBytes / 4)]),
  read: (reply) => {
    const format = reply.readUInt8(1);
    return {
      type: reply.readUInt32LE(8),
      format,
      bytesAfter: reply.readUInt32LE(12),
      data: slice(reply, 32, reply.readUInt32LE(16) * (format >> 3)),
    };
  },
});

/** A ClientMessage about `window` to the root, as EWMH wants it (substructure masks). */
export function sendClientMessage(
  root: number,
  window: number,
  type: number,
  data: readonly number[],
): Buffer {
  const packet = request(25, [
    root,
    0x0018_0000,
    0,
    window,
    type,
    ...Array.from({ length: 5 }, (_, i) => data[i] ?? 0),
  ]);
  packet[12] = 33; // ClientMessage
  packet[13] = 32; // bits an item
  return packet;
}

export const queryPointer = (window: number): Call<{ x: number; y: number; modifiers: number }> => ({
  packet: withWindow(38, window),
  read: (reply) => ({
    x: reply.readInt16LE(16),
    y: reply.readInt16LE(18),
    modifiers: reply.readUInt16LE(24),
  }),
});

/** The pixels of a part of a drawable, in ZPixmap format, every plane. */
export const getImage = (drawable: number, { x, y, width, height }: Box): Call<Buffer> => ({
  packet: request(73, [drawable, words(x, y), words(width, height), 0xffff_ffff], 2),
  read: (reply) => slice(reply, 32, reply.readUInt32LE(4) * 4),
});

/** Where (0, 0) of `window` lies on `root`. */
export const translateOrigin = (window: number, root: number): Call<{ x: number; y: number }> => ({
  packet: request(40, [window, root, 0]),
  read: (reply) => ({ x: reply.readInt16LE(12), y: reply.readInt16LE(14) }),
});

/** Focus goes to `window`, and to its parent when the window goes. */
export function setInputFocus(window: number): Buffer {
  return request(42, [window, 0], 2);
}

/** The focused window; 0 for none, 1 for whatever lies under the pointer. */
export const getInputFocus = (): Call<number> => ({
  packet: request(43, []),
  read: (reply) => reply.readUInt32LE(8),
});

export const queryExtension = (name: string): Call<Extension | undefined> => ({
  packet: withName(98, name),
  read: (reply) =>
    reply.readUInt8(8) === 0
      ? undefined
      : { majorOpcode: reply.readUInt8(9), firstEvent: reply.readUInt8(10) },
});

/** One row of keysyms for each keycode from `first` on. */
export const getKeyboardMapping = (first: number, count: number): Call<number[][]> => ({
  packet: Buffer.from([101, 0, 2, 0, first, count, 0, 0]),
  read: (reply) => {
    const columns = reply.readUInt8(1);
    return Array.from({ length: count }, (_, row) => cards(reply, 32 + row * columns * 4, columns));
  },
});

/** Lets this client go on while another one holds the server by GrabServer. */
export function xtestGrabControl({ majorOpcode }: Extension): Buffer {
  return Buffer.from([majorOpcode, 3, 2, 0, 1, 0, 0, 0]);
}

/** A key goes down or up, as if by hand. */
export function xtestKey({ majorOpcode }: Extension, keycode: number, down: boolean): Buffer {
  const packet = Buffer.alloc(36);
  packet[0] = majorOpcode;
  packet[1] = 2;
  packet.writeUInt16LE(9, 2);
  packet[4] = down ? 2 : 3;
  packet[5] = keycode;
  return packet;
}

/** Must be sent before any other request of the extension. */
export const randrQueryVersion = ({ majorOpcode }: Extension): Call<{ major: number; minor: number }> => ({
  packet: extensionRequest(majorOpcode, 0, [1, 5]),
  read: (reply) => ({ major: reply.readUInt32LE(8), minor: reply.readUInt32LE(12) }),
});

export interface RandrMonitor extends Box {
  readonly nameAtom: number;
  readonly primary: boolean;
}

export const randrGetMonitors = ({ majorOpcode }: Extension, root: number): Call<RandrMonitor[]> => ({
  packet: extensionRequest(majorOpcode, 42, [root, 1]),
  read: (reply) => {
    let at = 32;
    return Array.from({ length: bounded(reply.readUInt32LE(12), 64) }, () => {
      const from = at;
      at += 24 + reply.readUInt16LE(from + 6) * 4;
      return {
        nameAtom: reply.readUInt32LE(from),
        primary: reply.readUInt8(from + 4) !== 0,
        x: reply.readInt16LE(from + 8),
        y: reply.readInt16LE(from + 10),
        width: reply.readUInt16LE(from + 12),
        height: reply.readUInt16LE(from + 14),
      };
    });
  },
});

export const resQueryVersion = ({ majorOpcode }: Extension): Call<{ major: number; minor: number }> => ({
  packet: extensionRequest(majorOpcode, 0, [0x0201]),
  read: (reply) => ({ major: reply.readUInt16LE(8), minor: reply.readUInt16LE(10) }),
});

/** The process id that the server took from the socket of the client that owns `window` (X-Resource 1.2). */
export const resClientPid = ({ majorOpcode }: Extension, window: number): Call<number | undefined> => ({
  packet: extensionRequest(majorOpcode, 4, [1, window, 2]),
  read: (reply) =>
    reply.readUInt32LE(8) === 0 || reply.readUInt32LE(40) < 4 ? undefined : reply.readUInt32LE(44),
});

export const damageQueryVersion = ({ majorOpcode }: Extension): Call<void> => ({
  packet: extensionRequest(majorOpcode, 0, [1, 1]),
  read: () => undefined,
});

/** One notice when anything is drawn on `drawable`, and no more until the damage is subtracted. */
export function damageCreate({ majorOpcode }: Extension, damage: number, drawable: number): Buffer {
  return extensionRequest(majorOpcode, 1, [damage, drawable, 3]);
}

export function damageDestroy({ majorOpcode }: Extension, damage: number): Buffer {
  return extensionRequest(majorOpcode, 2, [damage]);
}

export function damageSubtract({ majorOpcode }: Extension, damage: number): Buffer {
  return extensionRequest(majorOpcode, 3, [damage, 0, 0]);
}

function request(opcode: number, values: readonly number[], second = 0): Buffer {
  return extensionRequest(opcode, second, values);
}

/** Two CARD16 as they lie one behind the other. */
function words(first: number, second: number): number {
  return (first & 0xffff) | ((second & 0xffff) << 16);
}

function extensionRequest(opcode: number, second: number, values: readonly number[]): Buffer {
  const packet = Buffer.alloc(4 + values.length * 4);
  packet[0] = opcode;
  packet[1] = second;
  packet.writeUInt16LE(packet.length / 4, 2);
  for (const [index, value] of values.entries()) packet.writeUInt32LE(value >>> 0, 4 + index * 4);
  return packet;
}

function withWindow(opcode: number, window: number): Buffer {
  return request(opcode, [window]);
}

function withName(opcode: number, name: string, second = 0): Buffer {
  const text = pad(Buffer.from(name, "latin1"));
  const head = Buffer.alloc(8);
  head[0] = opcode;
  head[1] = second;
  head.writeUInt16LE((8 + text.length) / 4, 2);
  head.writeUInt16LE(name.length, 4);
  return Buffer.concat([head, text]);
}

function cards(reply: Buffer, from: number, count: number): number[] {
  const bytes = slice(reply, from, count * 4);
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(index * 4));
}

function slice(reply: Buffer, from: number, length: number): Buffer {
  if (from + length > reply.length) throw new RangeError(`${length} bytes at ${from} of ${reply.length}`);
  return reply.subarray(from, from + length);
}

function bounded(count: number, limit: number): number {
  if (count > limit) throw new RangeError(`${count} is more than ${limit}`);
  return count;
}
