import { Decoder } from "./decode.js";
import { Encoder } from "./encode.js";
import { protocol } from "./signature.js";
import type { DbusValue, DbusVariant } from "./values.js";

/**
 * A method call of ours. Its arguments are strings, or a string, boolean or 32-bit number in a variant, as
 * `org.freedesktop.DBus.Properties.Set` takes it.
 */
export interface MethodCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly args?: readonly (string | DbusVariant)[];
  /** Never starts the service that it asks (NO_AUTO_START); default false. For who only looks. */
  readonly noAutoStart?: boolean;
}

/** The kinds of message (D-Bus specification, "Message Format"). */
export const MESSAGE_TYPE = { call: 1, return: 2, error: 3, signal: 4 } as const;

/** A flag of the header. */
const NO_AUTO_START = 2;

/** A message that was received. */
export interface Message {
  readonly type: number;
  readonly serial: number;
  readonly replySerial?: number;
  readonly errorName?: string;
  readonly sender?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly path?: string;
  readonly body: readonly DbusValue[];
}

/** The fixed part of a header, and the length of its array of fields. */
export const HEADER_BYTES = 16;
/** The specification allows 128 MiB; a bus's own answers are small, and this one is not trusted. */
export const MAX_MESSAGE_BYTES = 4 << 20;
const MAX_FIELDS_BYTES = 64 << 10;

const FIELD = {
  path: 1,
  interface: 2,
  member: 3,
  errorName: 4,
  replySerial: 5,
  destination: 6,
  sender: 7,
  signature: 8,
};
const LITTLE = 0x6c;
const BIG = 0x42;

/**
 * The bytes of a method call.
 *
 * @throws DbusError `PROTOCOL` for an argument that it cannot write
 */
export function encodeCall(call: MethodCall, serial: number): Buffer {
  const { args = [], noAutoStart = false } = call;
  const body = new Encoder();
  for (const arg of args)
    if (typeof arg === "string") body.string(arg);
    else body.variant(arg);
  const flags = noAutoStart ? NO_AUTO_START : 0;
  const message = new Encoder().byte(LITTLE).byte(MESSAGE_TYPE.call).byte(flags).byte(1);
  message.uint32(body.length).uint32(serial);
  const signature = args.map((arg) => (typeof arg === "string" ? "s" : "v")).join("");
  const fields = encodeFields(call, signature);
  return message.uint32(fields.length).raw(fields.bytes()).align(8).raw(body.bytes()).bytes();
}

/** The array's length leaves out the padding after it; its start, byte 16, is aligned already. */
function encodeFields(call: MethodCall, signature: string): Encoder {
  const fields = new Encoder();
  const field = (code: number, type: string) => fields.align(8).byte(code).signature(type);
  field(FIELD.path, "o").string(call.path);
  field(FIELD.interface, "s").string(call.interface);
  field(FIELD.member, "s").string(call.member);
  field(FIELD.destination, "s").string(call.destination);
  if (signature !== "") field(FIELD.signature, "g").signature(signature);
  return fields;
}

/**
 * How many bytes a message has in all, from its first 16.
 *
 * @throws DbusError `PROTOCOL` for what is no header, or larger than a bus's answer may be
 */
export function messageLength(header: Buffer): number {
  const little = isLittleEndian(header);
  if (header[3] !== 1) throw protocol("unknown protocol version");
  const bodyBytes = little ? header.readUInt32LE(4) : header.readUInt32BE(4);
  const fieldsBytes = little ? header.readUInt32LE(12) : header.readUInt32BE(12);
  if (fieldsBytes > MAX_FIELDS_BYTES) throw protocol(`a header of ${fieldsBytes} bytes`);
  const total = HEADER_BYTES + Math.ceil(fieldsBytes / 8) * 8 + bodyBytes;
  if (total > MAX_MESSAGE_BYTES) throw protocol(`a message of ${total} bytes`);
  return total;
}

/**
 * Reads a whole message.
 *
 * @throws DbusError `PROTOCOL`
 */
export function decodeMessage(bytes: Buffer): Message {
  const little = isLittleEndian(bytes);
  const decoder = new Decoder(bytes, little);
  const [, type = 0, , , , serial = 0, fields = []] = decoder.values("yyyyuua(yv)");
  decoder.align(8);
  const byCode = new Map<number, DbusVariant>();
  // The signature above has given these their shape.
  for (const [code, value] of fields as readonly (readonly [number, DbusVariant])[]) byCode.set(code, value);
  const signature = text(byCode, FIELD.signature, "g") ?? "";
  const body = decoder.values(signature);
  if (!decoder.done) throw protocol("a message has more bytes than its signature");
  return {
    type: Number(type),
    serial: Number(serial),
    body,
    ...optional("replySerial", number(byCode, FIELD.replySerial)),
    ...optional("errorName", text(byCode, FIELD.errorName, "s")),
    ...optional("sender", text(byCode, FIELD.sender, "s")),
    ...optional("interface", text(byCode, FIELD.interface, "s")),
    ...optional("member", text(byCode, FIELD.member, "s")),
    ...optional("path", text(byCode, FIELD.path, "o")),
  };
}

function isLittleEndian(header: Buffer): boolean {
  if (header[0] !== LITTLE && header[0] !== BIG) throw protocol("unknown byte order");
  return header[0] === LITTLE;
}

function text(fields: ReadonlyMap<number, DbusVariant>, code: number, signature: string): string | undefined {
  const field = fields.get(code);
  if (field === undefined) return undefined;
  if (field.signature !== signature || typeof field.value !== "string")
    throw protocol(`header field ${code} has the wrong type`);
  return field.value;
}

function number(fields: ReadonlyMap<number, DbusVariant>, code: number): number | undefined {
  const field = fields.get(code);
  if (field === undefined) return undefined;
  if (typeof field.value !== "number") throw protocol(`header field ${code} has the wrong type`);
  return field.value;
}

function optional<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T });
}
