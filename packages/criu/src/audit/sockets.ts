import { readLink, readText } from "./proc.js";
import { type Finding, type FindingProcess, finding } from "./rules.js";
import type { Snapshot, Task } from "./snapshot.js";

/** A row of /proc/net/unix. */
export interface UnixSocket {
  /** 0 for a connection that no one has accepted. */
  readonly inode: number;
  /** A path, an abstract name with its @, or empty. */
  readonly path: string;
}

/** A row of /proc/net/tcp, tcp6, udp or udp6. */
export interface InetSocket {
  readonly inode: number;
  /** TCP_ESTABLISHED is 1, TCP_LISTEN 10 (include/net/tcp_states.h). */
  readonly state: number;
  /** Bytes that wait to be read. */
  readonly received: number;
  readonly local: string;
  readonly remote: string;
}

const TCP_ESTABLISHED = 1;

/** Num RefCount Protocol Flags Type St Inode Path */
export function parseUnixSockets(text: string): UnixSocket[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => /^\S+ \S+ \S+ \S+ \S+ \S+\s+(\d+)(?: (.*))?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, inode, path = ""]) => ({ inode: Number(inode), path }));
}

/** sl local rem st tx:rx tr:when retrnsmt uid timeout inode … */
export function parseInetSockets(text: string): InetSocket[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 10)
    .map((fields) => ({
      inode: Number(fields[9]),
      state: Number.parseInt(fields[3] ?? "0", 16),
      received: Number.parseInt((fields[4] ?? "").split(":")[1] ?? "0", 16),
      local: fields[1] ?? "",
      remote: fields[2] ?? "",
    }));
}

/** What the socket checks are told. */
export interface SocketCheckOptions {
  /** The dump will save established TCP connections. */
  readonly tcpEstablished: boolean;
}

/** Checks the sockets of the whole tree against the tables of its network and of the host's. */
export function checkSockets(snapshot: Snapshot, options: SocketCheckOptions): Finding[] {
  const { proc, initPid } = snapshot;
  const holders = holdersOf(snapshot.tree);
  const unix = parseUnixSockets(readText(`${proc}/${initPid}/net/unix`) ?? "");
  return [
    ...foreignSockets(snapshot, { holders, unix }),
    ...unheldSockets(unix, holders),
    ...checkInet(snapshot, holders, options),
  ];
}

function holdersOf(tree: readonly Task[]): Map<number, { task: Task; fd: number }> {
  const holders = new Map<number, { task: Task; fd: number }>();
  for (const task of tree)
    for (const { fd, target } of task.descriptors)
      if (target.startsWith("socket:[")) holders.set(Number(target.slice(8, -1)), { task, fd });
  return holders;
}

/** A socket that only the host's own table lists was made there. */
function foreignSockets(
  { proc, tree }: Snapshot,
  {
    holders,
    unix,
  }: { holders: ReadonlyMap<number, { task: Task; fd: number }>; unix: readonly UnixSocket[] },
): Finding[] {
  if (readLink(`${proc}/self/ns/net`) === tree[0]?.namespaces.net) return [];
  const own = new Set(unix.map(({ inode }) => inode));
  const suspects = [...holders].filter(([inode]) => !own.has(inode));
  if (suspects.length === 0) return [];
  const host = new Set(parseUnixSockets(readText(`${proc}/self/net/unix`) ?? "").map(({ inode }) => inode));
  return suspects
    .filter(([inode]) => host.has(inode))
    .map(([inode, { task, fd }]) => finding("socket-foreign", `fd ${fd} socket ${inode}`, task));
}

/** Sockets of the session's network that no process of the tree holds: waiting ones, and those of others. */
function unheldSockets(unix: readonly UnixSocket[], holders: ReadonlyMap<number, unknown>): Finding[] {
  const waiting = unix.filter(({ inode }) => inode === 0);
  const held = unix.filter(({ inode }) => inode !== 0 && !holders.has(inode));
  return [
    ...waiting.map(({ path }) => finding("socket-unaccepted", path || "a unix socket without a name")),
    ...held.map(({ inode, path }) => finding("socket-outside-holder", `unix socket ${inode} ${path}`.trim())),
  ];
}

function checkInet(
  { proc, initPid }: Snapshot,
  holders: ReadonlyMap<number, { task: Task; fd: number }>,
  { tcpEstablished }: SocketCheckOptions,
): Finding[] {
  const table = (name: string) => parseInetSockets(readText(`${proc}/${initPid}/net/${name}`) ?? "");
  const tcp = ["tcp", "tcp6"]
    .flatMap(table)
    .filter(({ state }) => state === TCP_ESTABLISHED && !tcpEstablished);
  const udp = ["udp", "udp6"].flatMap(table).filter(({ received }) => received > 0);
  const holder = ({ inode }: InetSocket): FindingProcess | undefined => holders.get(inode)?.task;
  return [
    ...tcp.map((socket) => finding("tcp-established", `${socket.local} to ${socket.remote}`, holder(socket))),
    ...udp.map((socket) =>
      finding("udp-queued", `${socket.local}, ${socket.received} bytes`, holder(socket)),
    ),
  ];
}
