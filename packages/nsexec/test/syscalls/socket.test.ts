import { once } from "node:events";
import { chmodSync, closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  connectUnix,
  peerCredentials,
  receivePacket,
  sendPacket,
  socketpairSeqpacket,
} from "../../src/syscalls/index.js";

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nsexec-socket-"));
});
afterEach(() => {
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

test("packets keep their borders, whatever their size", () => {
  const [near, far] = socketpairSeqpacket();
  const packets = [Buffer.from("one"), Buffer.alloc(100_000, 7), Buffer.from("three")];
  for (const packet of packets) sendPacket(near, packet);
  for (const packet of packets) expect(receivePacket(far)?.data.equals(packet)).toBe(true);
  expect(receivePacket(far)).toBeUndefined();
  closeSync(near);
  expect(receivePacket(far)).toEqual({ data: Buffer.alloc(0), fds: [] });
  closeSync(far);
});

test("a packet above the cap is refused whole and the next one is intact", () => {
  const [near, far] = socketpairSeqpacket();
  sendPacket(near, Buffer.alloc(11));
  sendPacket(near, Buffer.from("next"));
  expect(() => receivePacket(far, { maxBytes: 10 })).toThrow(expect.objectContaining({ code: "EMSGSIZE" }));
  expect(receivePacket(far, { maxBytes: 10 })?.data.toString()).toBe("next");
  closeSync(near);
  closeSync(far);
});

test("descriptors travel with a packet and are close-on-exec on arrival", () => {
  const [near, far] = socketpairSeqpacket();
  const file = openSync("/proc/self/comm", "r");
  sendPacket(near, Buffer.from("a file"), [file, file]);
  const packet = receivePacket(far);
  expect(packet?.fds).toHaveLength(2);
  for (const fd of packet?.fds ?? []) {
    expect(fstatSync(fd).ino).toBe(fstatSync(file).ino);
    expect(readSync(fd, Buffer.alloc(4), 0, 4, 0)).toBe(4);
    closeSync(fd);
  }
  for (const fd of [near, far, file]) closeSync(fd);
});

testNeeding(["root"], "a connect as another user shows that user and changes nobody else", async () => {
  const path = join(folder, "s");
  server = createServer();
  const accepted = once(server, "connection");
  await new Promise<void>((resolve) => server?.listen({ path, writableAll: true }, resolve));
  chmodSync(folder, 0o755);
  const fd = connectUnix(path, { uid: 1234, gid: 5678 });
  const [socket] = (await accepted) as [Socket & { readonly _handle: { readonly fd: number } }];
  expect(peerCredentials(socket._handle.fd)).toEqual({ pid: process.pid, uid: 1234, gid: 5678 });
  expect(peerCredentials(fd)).toEqual({ pid: process.pid, uid: 0, gid: 0 });
  socket.destroy();
  closeSync(fd);
  expect([process.getuid?.(), process.geteuid?.(), process.getgroups?.()]).toEqual([0, 0, [0]]);
});

testNeeding(["root"], "a connect as a user who may not is refused", async () => {
  const path = join(folder, "s");
  server = createServer();
  await new Promise<void>((resolve) => server?.listen(path, resolve));
  expect(() => connectUnix(path, { uid: 1234 })).toThrow(expect.objectContaining({ code: "EACCES", path }));
  closeSync(connectUnix(path));
});

test("a path longer than sun_path and a path with no socket are named", () => {
  expect(() => connectUnix("/".padEnd(200, "x"))).toThrow(expect.objectContaining({ code: "ENAMETOOLONG" }));
  const path = join(folder, "none");
  expect(() => connectUnix(path)).toThrow(expect.objectContaining({ code: "ENOENT", path }));
});
