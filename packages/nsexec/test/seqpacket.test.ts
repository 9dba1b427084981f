import { closeSync, openSync, readdirSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SeqpacketChannel } from "../src/seqpacket.js";
import { socketpairSeqpacket } from "../src/syscalls/index.js";

let near: SeqpacketChannel;
let far: SeqpacketChannel;
beforeEach(() => {
  const [a, b] = socketpairSeqpacket();
  near = new SeqpacketChannel(a, { maxBytes: 1000 });
  far = new SeqpacketChannel(b);
});
afterEach(() => {
  near.close();
  far.close();
});

test("packets arrive whole and in order, to whoever asked first", async () => {
  const asked = [near.receive(), near.receive(), near.receive()];
  for (const text of ["one", "two", "three"]) far.send(Buffer.from(text));
  const got = await Promise.all(asked);
  expect(got.map((packet) => packet?.data.toString())).toEqual(["one", "two", "three"]);
});

test("packets sent before anybody asked are kept, and the peer's end comes after them", async () => {
  far.send(Buffer.from("last words"));
  far.close();
  expect((await near.receive())?.data.toString()).toBe("last words");
  expect(await near.receive()).toBeUndefined();
  expect(() => near.send(Buffer.from("x"))).toThrow(expect.objectContaining({ code: "EPIPE" }));
});

test("the last words of a peer that ended with our packets unread are heard, and then its end", async () => {
  near.send(Buffer.from("never read"));
  far.send(Buffer.from("last words"));
  far.close();
  expect((await near.receive())?.data.toString()).toBe("last words");
  expect(await near.receive()).toBeUndefined();
});

test("a wait that takes too long ends, and the next one gets the packet", async () => {
  await expect(near.receive({ timeoutMs: 5 })).rejects.toMatchObject({ code: "TIMEOUT" });
  const next = near.receive({ timeoutMs: 10_000 });
  far.send(Buffer.from("late"));
  expect((await next)?.data.toString()).toBe("late");
});

test("a packet above the cap rejects that wait alone", async () => {
  const [first, second] = [near.receive(), near.receive()];
  far.send(Buffer.alloc(1001));
  far.send(Buffer.from("ok"));
  await expect(first).rejects.toMatchObject({ code: "EMSGSIZE" });
  expect((await second)?.data.toString()).toBe("ok");
});

test("closing ends every wait, and a closed channel refuses", async () => {
  const waiting = near.receive();
  near.close();
  await expect(waiting).rejects.toMatchObject({ code: "CHANNEL_CLOSED" });
  await expect(near.receive()).rejects.toMatchObject({ code: "CHANNEL_CLOSED" });
  expect(() => near.send(Buffer.from("x"))).toThrow(expect.objectContaining({ code: "CHANNEL_CLOSED" }));
});

test("descriptors that nobody asked for are closed on arrival", async () => {
  const file = openSync("/proc/self/comm", "r");
  const before = readdirSync("/proc/self/fd").length;
  far.send(Buffer.from("take this"), [file, file, file]);
  expect((await near.receive())?.fds).toEqual([]);
  expect(readdirSync("/proc/self/fd").length).toBe(before);
  closeSync(file);
});
