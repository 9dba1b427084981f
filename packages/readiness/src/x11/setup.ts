import { ReadinessError } from "../errors.js";

/** What the server says of itself when a connection is set up (X11 protocol, section 8). */
export interface XSetup {
  readonly vendor: string;
  /** Identifiers that this client may hand out: `base` plus any bits of `mask`. */
  readonly resourceBase: number;
  readonly resourceMask: number;
  readonly minKeycode: number;
  readonly maxKeycode: number;
  /** The first screen's root window and its size in pixels. */
  readonly root: number;
  readonly width: number;
  readonly height: number;
}

/** A cookie for a server that wants one (xauth's MIT-MAGIC-COOKIE-1). */
export interface XAuth {
  readonly name: string;
  readonly data: Buffer;
}

/** A real reply has 1 to 3 KiB; a larger one is no X server we know. */
export const MAX_SETUP_BYTES = 65_536;
const FIXED_REPLY_BYTES = 40;
const FORMAT_BYTES = 8;
const SCREEN_BYTES = 40;
const ACCEPTED = 1;

/** The client's first packet: little-endian, protocol 11.0. */
export function setupRequest(auth: XAuth = { name: "", data: Buffer.alloc(0) }): Buffer {
  const name = pad(Buffer.from(auth.name, "latin1"));
  const data = pad(auth.data);
  const head = Buffer.alloc(12);
  head[0] = 0x6c; // "l"
  head.writeUInt16LE(11, 2);
  head.writeUInt16LE(auth.name.length, 6);
  head.writeUInt16LE(auth.data.length, 8);
  return Buffer.concat([head, name, data]);
}

/** How many bytes the server's answer has, once its first 8 are there. */
export function setupLength(head: Buffer): number {
  return 8 + head.readUInt16LE(6) * 4;
}

/**
 * Reads the server's whole answer. Throws X_REFUSED with the server's reason when it will not have us,
 * X_PROTOCOL when the answer is not one.
 */
export function parseSetup(reply: Buffer): XSetup {
  if (reply[0] !== ACCEPTED) throw refused(reply);
  try {
    return readSetup(reply);
  } catch (cause) {
    throw new ReadinessError("X_PROTOCOL", "the answer to the connection setup is no X server's", {
      hint: "check that the socket belongs to the session's X server",
      cause,
    });
  }
}

function readSetup(reply: Buffer): XSetup {
  const vendorLength = reply.readUInt16LE(24);
  const formats = reply.readUInt8(29);
  const screen = FIXED_REPLY_BYTES + padded(vendorLength) + formats * FORMAT_BYTES;
  if (reply.readUInt8(28) === 0 || screen + SCREEN_BYTES > reply.length) throw new RangeError("no screen");
  const resourceMask = reply.readUInt32LE(16);
  const minKeycode = reply.readUInt8(34);
  const maxKeycode = reply.readUInt8(35);
  if (resourceMask === 0) throw new RangeError("no resource identifiers");
  if (minKeycode < 8 || maxKeycode < minKeycode) throw new RangeError("no keycodes");
  return {
    vendor: printable(reply.toString("latin1", 40, 40 + vendorLength)),
    resourceBase: reply.readUInt32LE(12),
    resourceMask,
    minKeycode,
    maxKeycode,
    root: reply.readUInt32LE(screen),
    width: reply.readUInt16LE(screen + 20),
    height: reply.readUInt16LE(screen + 22),
  };
}

function refused(reply: Buffer): ReadinessError {
  const reason = printable(reply.toString("latin1", 8, 8 + Math.min(reply[1] ?? 0, reply.length - 8)));
  return new ReadinessError(
    "X_REFUSED",
    `the X server refused the connection: ${reason || "no reason given"}`,
    {
      hint: "start the server with -ac on its private socket, or connect with its cookie (option auth)",
    },
  );
}

/** Text from the server, cut to a bound and without control characters: it ends up in logs and terminals. */
export function printable(text: string, limit = 256): string {
  const cut = text.length > limit ? `${text.slice(0, limit - 1)}…` : text;
  return cut.replace(/\p{Cc}/gu, "\ufffd");
}

/** `length` rounded up to the protocol's four bytes. */
export function padded(length: number): number {
  return (length + 3) & ~3;
}

export function pad(bytes: Buffer): Buffer {
  return Buffer.concat([bytes], padded(bytes.length));
}
