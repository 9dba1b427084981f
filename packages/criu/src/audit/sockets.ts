import { sys } from "@drums/nsexec";
import { checkInet, type TcpFlags } from "./inet.js";
import { readLink, readText } from "./proc.js";
import { type Finding, finding } from "./rules.js";
import type { Snapshot, Task } from "./snapshot.js";

/** A row of /proc/net/unix. */
export interface UnixSocket {
  /** 0 for a connection that no one has accepted. */
  readonly inode: number;
  /** A path, an abstract name with its @, or empty. */
  readonly path: string;
}

/** A row of /proc/net/netlink. */
export interface NetlinkSocket {
  readonly inode: number;
  /** Bytes that wait to be read. */
  readonly received: number;
}

/** Names that a new net namespace may start with. */
const KERNEL_INTERFACE = /^(lo|sit0|tunl0|gre0|gretap0|erspan0|ip_vti0|ip6_vti0|ip6tnl0|ip6gre0)$/;
/** The names of protocols (/proc/net/protocols) that CRIU collects: criu/sockets.c, criu/sk-inet.c. */
const KNOWN_PROTOCOL = /^(PACKET|(TCP|UDP|UDPLITE|RAW)(v6)?|UDP-Lite)$/;

/** Num RefCount Protocol Flags Type St Inode Path */
export function parseUnixSockets(text: string): UnixSocket[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => /^\S+ \S+ \S+ \S+ \S+ \S+\s+(\d+)(?: (.*))?$/.exec(line))
    .filter((match) => match !== null)
    .map(([, inode, path = ""]) => ({ inode: Number(inode), path }));
}

/** sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode */
export function parseNetlinkSockets(text: string): NetlinkSocket[] {
  return text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields.length >= 10)
    .map((fields) => ({ inode: Number(fields[9]), received: Number(fields[4]) }));
}

/** What the socket checks are told. */
export interface SocketCheckOptions extends TcpFlags {
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
  const netlink = parseNetlinkSockets(readText(`${proc}/${initPid}/net/netlink`) ?? "");
  const known = new Set([...unix, ...netlink].map(({ inode }) => inode));
  const others = new Map([...holders].filter(([inode]) => !known.has(inode)));
  return [
    ...foreignSockets(snapshot, others),
    ...unheldSockets(snapshot, unix, holders),
    ...queuedNetlink(netlink, holders),
    ...protocolFindings(snapshot, others),
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

function holdersOf(tree: readonly Task[]): Holders {
  const holders = new Map<number, { task: Task; fd: number }>();
  for (const task of tree)
    for (const { fd, target } of task.descriptors)
      if (target.startsWith("socket:[")) holders.set(Number(target.slice(8, -1)), { task, fd });
  return holders;
}

/**
 * A socket that only the host's own table lists was made there, or accepted from there: the kernel gives what is
 * accepted the net namespace of the one that connected.
 */
function foreignSockets({ proc, tree }: Snapshot, others: Holders): Finding[] {
  if (others.size === 0 || readLink(`${proc}/self/ns/net`) === tree[0]?.namespaces.net) return [];
  const host = new Set(parseUnixSockets(readText(`${proc}/self/net/unix`) ?? "").map(({ inode }) => inode));
  return [...others]
    .filter(([inode]) => host.has(inode))
    .map(([inode, { task, fd }]) => finding("socket-foreign", `fd ${fd} socket ${inode}`, task));
}

/** Sockets of the session's network that no process of the tree holds: waiting ones, those in flight, and others'. */
function unheldSockets(snapshot: Snapshot, unix: readonly UnixSocket[], holders: Holders): Finding[] {
  const waiting = unix.filter(({ inode }) => inode === 0);
  const unheld = unix.filter(({ inode }) => inode !== 0 && !holders.has(inode));
  const outside = unheld.length > inFlight(snapshot, unheld) ? unheld : [];
  return [
    ...waiting.map(({ path }) => finding("socket-unaccepted", path || "a unix socket without a name")),
    ...outside.map(({ inode, path }) =>
      finding("socket-outside-holder", `unix socket ${inode} ${path}`.trim()),
    ),
  ];
}

/** How many descriptors wait in the queues of the tree's sockets (fdinfo's scm_fds): one of them may be a socket. */
function inFlight({ tree, proc }: Snapshot, unheld: readonly UnixSocket[]): number {
  if (unheld.length === 0) return 0;
  const counts = tree.flatMap(({ pid, descriptors }) =>
    descriptors
      .filter(({ target }) => target.startsWith("socket:["))
      .map(({ fd }) =>
        Number(/^scm_fds:\s*(\d+)/m.exec(readText(`${proc}/${pid}/fdinfo/${fd}`) ?? "")?.[1] ?? 0),
      ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** criu/sk-netlink.c: "The socket has data to read". */
function queuedNetlink(netlink: readonly NetlinkSocket[], holders: Holders): Finding[] {
  return netlink.flatMap(({ inode, received }) => {
    const holder = holders.get(inode);
    return received > 0 && holder !== undefined
      ? [finding("netlink-queued", `fd ${holder.fd}, ${received} bytes`, holder.task)]
      : [];
  });
}

/** Sockets that are neither unix nor netlink: the file itself tells its protocol. */
function protocolFindings({ proc }: Snapshot, others: Holders): Finding[] {
  return [...others.values()].flatMap(({ task, fd }) => {
    const protocol = protocolOf(`${proc}/${task.pid}/fd/${fd}`);
    if (protocol === undefined || /^(UNIX|NETLINK)/.test(protocol)) return [];
    const rule = KNOWN_PROTOCOL.test(protocol) ? "socket-passcred" : "socket-protocol";
    return [finding(rule, `fd ${fd} ${protocol} socket`, task)];
  });
}

/** net/socket.c, sockfs_xattr_get; undefined for a socket that was closed meanwhile. */
function protocolOf(path: string): string | undefined {
  try {
    return sys.getxattr(path, "system.sockprotoname").toString().replaceAll("\0", "");
  } catch {
    return undefined;
  }
}
