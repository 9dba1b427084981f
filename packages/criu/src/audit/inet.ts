import { endpointText } from "./endpoints.js";
import { readText } from "./proc.js";
import { type Finding, type FindingProcess, finding, type RuleId } from "./rules.js";
import type { Snapshot } from "./snapshot.js";

/** A row of /proc/net/tcp, tcp6, udp or udp6. */
export interface InetSocket {
  readonly inode: number;
  /** TCP_ESTABLISHED is 1, TCP_LISTEN 10 (include/net/tcp_states.h). */
  readonly state: number;
  /** Bytes that wait to be read; of a listening socket the connections that wait to be accepted. */
  readonly received: number;
  readonly local: string;
  readonly remote: string;
}

/** include/net/tcp_states.h */
const TCP_ESTABLISHED = 1;
const TCP_SYN_SENT = 2;
const TCP_CLOSE = 7;
const TCP_LISTEN = 10;

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

/** What the checks of TCP are told. */
export interface TcpFlags {
  /** The dump will save established TCP connections. */
  readonly tcpEstablished: boolean;
  /** The dump will leave open TCP connections out. */
  readonly tcpClose: boolean;
}

/**
 * Checks the tree's sockets of TCP and UDP. The kernel walks its whole hash for a read of the tcp tables, some 3 ms
 * each: only where there is a socket that no other table has.
 */
export function checkInet(
  { proc, initPid }: Snapshot,
  holders: ReadonlyMap<number, { readonly task: FindingProcess }>,
  flags: TcpFlags,
): Finding[] {
  if (holders.size === 0) return [];
  const held = (name: string) =>
    parseInetSockets(readText(`${proc}/${initPid}/net/${name}`) ?? "").filter(({ inode }) =>
      holders.has(inode),
    );
  const holder = ({ inode }: InetSocket) => holders.get(inode)?.task;
  return [
    ...["tcp", "tcp6"].flatMap(held).flatMap((socket) => {
      const rule = tcpRule(socket, flags);
      return rule === undefined ? [] : [finding(rule, objectOf(socket), holder(socket))];
    }),
    ...["udp", "udp6"]
      .flatMap(held)
      .filter(({ received }) => received > 0)
      .map((socket) =>
        finding("udp-queued", `${endpointText(socket.local)}, ${socket.received} bytes`, holder(socket)),
      ),
  ];
}

function objectOf({ state, local, remote, received }: InetSocket): string {
  if (state === TCP_LISTEN) return `${endpointText(local)}, ${received} waiting`;
  return `${endpointText(local)} to ${endpointText(remote)}`;
}

/** criu/sk-inet.c, can_dump_inet_sk: a queue before accept refuses, every state of a connection wants a flag. */
function tcpRule({ state, received }: InetSocket, flags: TcpFlags): RuleId | undefined {
  if (state === TCP_LISTEN) return received > 0 ? "tcp-unaccepted" : undefined;
  if (state === TCP_CLOSE) return undefined;
  if (flags.tcpClose) return "tcp-closed";
  if (!flags.tcpEstablished) return "tcp-established";
  return state === TCP_ESTABLISHED || state === TCP_SYN_SENT ? undefined : "tcp-half-closed";
}
