import { endpointText } from "./endpoints.js";
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

/** include/net/tcp_states.h */
const TCP_ESTABLISHED = 1;
const TCP_CLOSE = 7;
const TCP_LISTEN = 10;
/** Names that a new net namespace may start with. */
const KERNEL_INTERFACE = /^(lo|sit0|tunl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6tnl0|ip6gre0)$/;

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
  /** The dump will leave open TCP connections out. */
  readonly tcpClose: boolean;
  /** The dump will leave the net namespace out. */
  readonly emptyNet: boolean;
  /** Interfaces that a restore makes anew. Default: none. */
  readonly remadeInterfaces?: readonly string[];
}

/** Checks the sockets of the whole tree against the tables of its network and of the host's. */
export function checkSockets(snapshot: Snapshot, options: SocketCheckOptions): Finding[] {
  const { proc, initPid } = snapshot;
  const holders = holdersOf(snapshot.tree);
  const unix = parseUnixSockets(readText(`${proc}/${initPid}/net/unix`) ?? "");
  const known = new Set([...unix.map(({ inode }) => inode), ...netlinkInodes(snapshot)]);
  const others = new Map([...holders].filter(([inode]) => !known.has(inode)));
  return [
    ...foreignSockets(snapshot, others),
    ...unheldSockets(unix, holders),
    ...checkInet(snapshot, others, options),
    ...(options.emptyNet ? checkInterfaces(snapshot, options.remadeInterfaces ?? []) : []),
  ];
}

/** Every namespace has lo; the kernel may add idle tunnels of its own to each (sit0, tunl0 …). */
function checkInterfaces({ proc, initPid }: Snapshot, remade: readonly string[]): Finding[] {
  const rows = (readText(`${proc}/${initPid}/net/dev`) ?? "").split("\n").slice(2);
  const names = rows.map((row) => row.split(":")[0]?.trim() ?? "").filter(Boolean);
  return names
    .filter((name) => !KERNEL_INTERFACE.test(name) && !remade.includes(name))
    .map((name) => finding("net-interface", name));
}

type Holders = ReadonlyMap<number, { readonly task: Task; readonly fd: number }>;

/** The inode is the last field of each row. */
function netlinkInodes({ proc, initPid }: Snapshot): number[] {
  const rows = (readText(`${proc}/${initPid}/net/netlink`) ?? "").split("\n").slice(1);
  return rows.map((row) => Number(row.trim().split(/\s+/).at(-1)));
}

function holdersOf(tree: readonly Task[]): Holders {
  const holders = new Map<number, { task: Task; fd: number }>();
  for (const task of tree)
    for (const { fd, target } of task.descriptors)
      if (target.startsWith("socket:[")) holders.set(Number(target.slice(8, -1)), { task, fd });
  return holders;
}

/** A socket that only the host's own table lists was made there. */
function foreignSockets({ proc, tree }: Snapshot, others: Holders): Finding[] {
  if (others.size === 0 || readLink(`${proc}/self/ns/net`) === tree[0]?.namespaces.net) return [];
  const host = new Set(parseUnixSockets(readText(`${proc}/self/net/unix`) ?? "").map(({ inode }) => inode));
  return [...others]
    .filter(([inode]) => host.has(inode))
    .map(([inode, { task, fd }]) => finding("socket-foreign", `fd ${fd} socket ${inode}`, task));
}

/** Sockets of the session's network that no process of the tree holds: waiting ones, and those of others. */
function unheldSockets(unix: readonly UnixSocket[], holders: Holders): Finding[] {
  const waiting = unix.filter(({ inode }) => inode === 0);
  const held = unix.filter(({ inode }) => inode !== 0 && !holders.has(inode));
  return [
    ...waiting.map(({ path }) => finding("socket-unaccepted", path || "a unix socket without a name")),
    ...held.map(({ inode, path }) => finding("socket-outside-holder", `unix socket ${inode} ${path}`.trim())),
  ];
}

/** The kernel walks its whole hash for a read of the tcp tables, some 3 ms each: only where a socket is left over. */
function checkInet({ proc, initPid }: Snapshot, others: Holders, options: SocketCheckOptions): Finding[] {
  if (others.size === 0) return [];
  const held = (name: string) =>
    parseInetSockets(readText(`${proc}/${initPid}/net/${name}`) ?? "").filter(({ inode }) =>
      others.has(inode),
    );
  const tcp = ["tcp", "tcp6"].flatMap(held);
  const udp = ["udp", "udp6"].flatMap(held);
  const holder = ({ inode }: InetSocket): FindingProcess | undefined => others.get(inode)?.task;
  return [
    ...connectionFindings(tcp, options).map(({ rule, socket }) =>
      finding(rule, `${endpointText(socket.local)} to ${endpointText(socket.remote)}`, holder(socket)),
    ),
    ...udp
      .filter(({ received }) => received > 0)
      .map((socket) =>
        finding("udp-queued", `${endpointText(socket.local)}, ${socket.received} bytes`, holder(socket)),
      ),
  ];
}

function connectionFindings(tcp: readonly InetSocket[], options: SocketCheckOptions) {
  if (options.tcpClose)
    return tcp
      .filter(({ state }) => state !== TCP_LISTEN && state !== TCP_CLOSE)
      .map((socket) => ({ rule: "tcp-closed", socket }) as const);
  if (options.tcpEstablished) return [];
  return tcp
    .filter(({ state }) => state === TCP_ESTABLISHED)
    .map((socket) => ({ rule: "tcp-established", socket }) as const);
}
