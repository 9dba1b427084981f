import {
  fdinfo_entrySchema,
  type file_entry,
  file_entrySchema,
  type inet_sk_entry,
  memfd_inode_entrySchema,
  type unix_sk_entry,
} from "../gen/images_pb.js";
import { inetAddress } from "./inet-address.js";
import { MAGIC, readImage } from "./reader.js";

/** images/fdinfo.proto: what an open file is. */
const KINDS = [
  "unknown",
  "file",
  "pipe",
  "fifo",
  "inet-socket",
  "unix-socket",
  "eventfd",
  "epoll",
  "inotify",
  "signalfd",
  "packet-socket",
  "tty",
  "fanotify",
  "netlink-socket",
  "namespace",
  "tun",
  "external",
  "timerfd",
  "memfd",
  "bpf-map",
  "pidfd",
] as const;

/** What an open file is. */
export type FileKind = (typeof KINDS)[number];

/** A socket's own facts. */
export interface ImageSocket {
  readonly family: "unix" | "inet" | "inet6";
  readonly type: "stream" | "dgram" | "seqpacket" | "raw" | "unknown";
  readonly state: "established" | "listening" | "closed" | "other";
  /** A unix socket's path, or its abstract name after an `@`; an inet socket's `address:port`. */
  readonly local?: string;
  readonly remote?: string;
  /** Inode of a unix socket's other end. */
  readonly peer?: number;
}

/** An open file that descriptors and mappings refer to by number. */
export interface ImageFile {
  readonly kind: FileKind;
  readonly path?: string;
  readonly socket?: ImageSocket;
}

/** Open files by their number in the images. */
export type FileTable = ReadonlyMap<number, ImageFile>;

/** A descriptor of a process. */
export interface ImageDescriptor extends ImageFile {
  readonly fd: number;
}

/** All open files of a dump. @throws {CriuError} `IMAGE_INVALID` */
export async function readFileTable(folder: string): Promise<FileTable> {
  const entries =
    (await readImage(folder, "files.img", { schema: file_entrySchema, magic: MAGIC.files })) ?? [];
  const memfds = await readMemfdNames(folder);
  return new Map(entries.map((entry) => [entry.id, fileOf(entry, memfds)]));
}

/** The descriptors of one table. @throws {CriuError} `IMAGE_INVALID` */
export async function readDescriptors(
  folder: string,
  filesId: number,
  files: FileTable,
): Promise<ImageDescriptor[]> {
  const kind = { schema: fdinfo_entrySchema, magic: MAGIC.fdinfo };
  const entries = (await readImage(folder, `fdinfo-${filesId}.img`, kind)) ?? [];
  return entries.map(({ id, fd, type }) => ({ fd, kind: KINDS[type] ?? "unknown", ...files.get(id) }));
}

function fileOf(entry: file_entry, memfds: ReadonlyMap<number, string>): ImageFile {
  const kind = KINDS[entry.type] ?? "unknown";
  if (entry.reg !== undefined) return { kind, path: `/${entry.reg.name.replace(/^[./]+/, "")}` };
  if (entry.usk !== undefined) return { kind, socket: unixSocket(entry.usk) };
  if (entry.isk !== undefined) return { kind, socket: inetSocket(entry.isk) };
  const pipe = entry.pipe ?? entry.fifo;
  if (pipe !== undefined) return { kind, path: `pipe:[${pipe.pipeId}]` };
  const memfd = entry.memfd && memfds.get(entry.memfd.inodeId);
  return memfd === undefined ? { kind } : { kind, path: `memfd:${memfd}` };
}

async function readMemfdNames(folder: string): Promise<Map<number, string>> {
  const kind = { schema: memfd_inode_entrySchema, magic: MAGIC.memfd };
  const entries = (await readImage(folder, "memfd.img", kind)) ?? [];
  return new Map(entries.map(({ inodeId, name }) => [Number(inodeId), name]));
}

/** TCP_ESTABLISHED 1, TCP_CLOSE 7, TCP_LISTEN 10 (include/net/tcp_states.h); unix sockets use the same numbers. */
const SOCKET_STATES: Readonly<Record<number, ImageSocket["state"]>> = {
  1: "established",
  7: "closed",
  10: "listening",
};

/** socket(2) */
const SOCKET_TYPES: Readonly<Record<number, ImageSocket["type"]>> = {
  1: "stream",
  2: "dgram",
  3: "raw",
  5: "seqpacket",
};

function unixSocket({ type, state, name, peer }: unix_sk_entry): ImageSocket {
  return {
    family: "unix",
    type: SOCKET_TYPES[type] ?? "unknown",
    state: SOCKET_STATES[state] ?? "other",
    ...(name.length === 0 ? {} : { local: unixName(name) }),
    ...(peer === 0 ? {} : { peer }),
  };
}

/** unix(7): an abstract name begins with a zero byte; `ss` writes an `@` for it. */
function unixName(name: Uint8Array): string {
  const text = Buffer.from(name).toString("utf8");
  return text.startsWith("\0") ? `@${text.slice(1)}` : text.replace(/\0.*$/s, "");
}

/** IPPROTO_TCP 6, IPPROTO_UDP 17; AF_INET6 10. */
function inetSocket(entry: inet_sk_entry): ImageSocket {
  const { family, proto, state, srcAddr, srcPort, dstAddr, dstPort } = entry;
  const isSix = family === 10;
  return {
    family: isSix ? "inet6" : "inet",
    type: proto === 6 ? "stream" : proto === 17 ? "dgram" : "raw",
    state: SOCKET_STATES[state] ?? "other",
    local: `${inetAddress(srcAddr, { isSix })}:${srcPort}`,
    ...(dstPort === 0 ? {} : { remote: `${inetAddress(dstAddr, { isSix })}:${dstPort}` }),
  };
}
