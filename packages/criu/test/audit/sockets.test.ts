import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parseInetSockets } from "../../src/audit/inet.js";
import { parseNetlinkSockets, parseUnixSockets } from "../../src/audit/sockets.js";
import { type AuditOptions, auditSession, type CheckpointFlags } from "../../src/index.js";
import { fakeProc } from "../helpers/fake-proc.js";

let proc: string;
beforeEach(() => {
  proc = mkdtempSync(join(tmpdir(), "drums-proc-"));
});
afterEach(() => rmSync(proc, { recursive: true, force: true }));

const UNIX_HEAD = "Num       RefCount Protocol Flags    Type St Inode Path\n";
const unixRow = (inode: number, path = "", state = "03") =>
  `000000004082e010: 00000003 00000000 00000000 0001 ${state} ${String(inode).padStart(5)}${path ? ` ${path}` : ""}\n`;
const INET_HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const inetRow = (inode: number, state: string, received = "00000000") =>
  `   0: 0100007F:1F90 0100007F:C350 ${state} 00000000:${received} 00:00000000 00000000  1000        0 ${inode} 1 0 20 4 30 10 -1\n`;

/** The rules that fire on a session that holds one socket, inode 70. */
async function rulesOf(
  net: Record<string, string>,
  flags: Partial<CheckpointFlags> = {},
  options: Pick<AuditOptions, "remadeInterfaces"> = {},
) {
  const files = {
    "self/net/unix": UNIX_HEAD + unixRow(900),
    ...Object.fromEntries(Object.entries(net).map(([name, text]) => [`1000/net/${name}`, text])),
  };
  fakeProc(proc, [{ pid: 1000, ppid: 1, name: "it", innerPid: 1, fds: { 4: "socket:[70]" } }], files);
  const audit = await auditSession({ initPid: 1000, proc, flags, ...options });
  return audit.findings.map(({ rule, object }) => `${rule}: ${object}`);
}

test("rows of /proc/net/unix are read with paths, abstract names and blanks in them", () => {
  const text = UNIX_HEAD + unixRow(1613) + unixRow(5, "/run/a b") + unixRow(6, "@/tmp/.X11-unix/X0");
  expect(parseUnixSockets(text)).toEqual([
    { inode: 1613, path: "" },
    { inode: 5, path: "/run/a b" },
    { inode: 6, path: "@/tmp/.X11-unix/X0" },
  ]);
});

test("rows of /proc/net/tcp are read with state, queue and inode", () => {
  expect(parseInetSockets(INET_HEAD + inetRow(42, "0A", "0000001F"))).toEqual([
    { inode: 42, state: 10, received: 31, local: "0100007F:1F90", remote: "0100007F:C350" },
  ]);
});

test("rows of /proc/net/netlink are read with what waits in them", () => {
  const text =
    "sk               Eth Pid        Groups   Rmem     Wmem     Dump  Locks    Drops    Inode\n" +
    "000000008571fa77 0   77         00000001 2304     0        0     2        0        70      \n";
  expect(parseNetlinkSockets(text)).toEqual([{ inode: 70, received: 2304 }]);
});

test("a connection that is shut in one direction, or waits to be accepted, is refused or lost by the flags", async () => {
  const closing = { unix: UNIX_HEAD, tcp: INET_HEAD + inetRow(70, "08") };
  expect(await rulesOf(closing)).toEqual(["tcp-established: 127.0.0.1:8080 to 127.0.0.1:50000"]);
  rmSync(proc, { recursive: true });
  expect(await rulesOf(closing, { tcpEstablished: true })).toEqual([
    "tcp-half-closed: 127.0.0.1:8080 to 127.0.0.1:50000",
  ]);
  rmSync(proc, { recursive: true });
  const waiting = { unix: UNIX_HEAD, tcp: INET_HEAD + inetRow(70, "0A", "00000001") };
  expect(await rulesOf(waiting, { tcpEstablished: true })).toEqual([
    "tcp-unaccepted: 127.0.0.1:8080, 1 waiting",
  ]);
});

test("a session whose sockets are all its own passes", async () => {
  expect(await rulesOf({ unix: UNIX_HEAD + unixRow(70, "/run/x") })).toEqual([]);
});

test("a socket of the session's network that nobody in the tree holds belongs to a process outside", async () => {
  expect(await rulesOf({ unix: UNIX_HEAD + unixRow(70) + unixRow(71, "@x") })).toEqual([
    "socket-outside-holder: unix socket 71 @x",
  ]);
});

test("a connection that nobody has accepted has no inode, and is told as lost", async () => {
  expect(await rulesOf({ unix: UNIX_HEAD + unixRow(70) + unixRow(0, "/run/x", "02") })).toEqual([
    "socket-unaccepted: /run/x",
  ]);
});

test("an established TCP connection is refused unless the dump keeps such", async () => {
  const net = { unix: UNIX_HEAD, tcp: INET_HEAD + inetRow(70, "01") };
  expect(await rulesOf(net)).toEqual(["tcp-established: 127.0.0.1:8080 to 127.0.0.1:50000"]);
  rmSync(proc, { recursive: true });
  expect(await rulesOf(net, { tcpEstablished: true })).toEqual([]);
});

test("a TCP connection in any state but listening is told as lost where the dump leaves such out", async () => {
  const rows = [inetRow(70, "08"), inetRow(70, "0A"), inetRow(70, "07")];
  const net = { unix: UNIX_HEAD, tcp: INET_HEAD + rows.join("") };
  expect(await rulesOf(net, { tcpClose: true })).toEqual(["tcp-closed: 127.0.0.1:8080 to 127.0.0.1:50000"]);
});

test("a listening TCP socket passes", async () => {
  expect(await rulesOf({ unix: UNIX_HEAD, tcp: INET_HEAD + inetRow(70, "0A") })).toEqual([]);
});

test("datagrams that wait are told as lost", async () => {
  expect(await rulesOf({ unix: UNIX_HEAD, udp: INET_HEAD + inetRow(70, "07", "00000300") })).toEqual([
    "udp-queued: 127.0.0.1:8080, 768 bytes",
  ]);
});

test("an interface beside lo is told as lost where the net namespace is left out", async () => {
  const dev = "Inter-|   Receive\n face |bytes\n    lo: 0 0\n  eth0: 0 0\n  sit0: 0 0\n";
  const net = { unix: UNIX_HEAD + unixRow(70), dev };
  expect(await rulesOf(net)).toEqual(["net-interface: eth0"]);
  rmSync(proc, { recursive: true });
  expect(await rulesOf(net, { emptyNet: false })).toEqual([]);
  rmSync(proc, { recursive: true });
  expect(await rulesOf(net, {}, { remadeInterfaces: ["eth0"] })).toEqual([]);
});
