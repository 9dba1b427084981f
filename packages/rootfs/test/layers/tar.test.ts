import fc from "fast-check";
import { expect, test } from "vitest";
import { RootfsError } from "../../src/index.js";
import { readTar } from "../../src/layers/tar.js";
import { tar } from "../helpers/deb.js";
import { failure } from "../helpers/throws.js";

async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function names(bytes: Buffer, chunk = 1000): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of readTar(inChunks(bytes, chunk))) found.push(entry.name);
  return found;
}

const GOOD = tar([
  { name: "./a", content: "one" },
  { name: `./${"x".repeat(200)}`, content: "y".repeat(5000) },
  { name: "./b", type: "2", linkName: "a" },
]);

test("entries are read whatever the borders of the chunks, and content not read is skipped", async () => {
  for (const chunk of [1, 7, 512, 100_000])
    expect(await names(GOOD, chunk)).toEqual(["./a", `./${"x".repeat(200)}`, "./b"]);
  const contents: number[] = [];
  for await (const entry of readTar(inChunks(GOOD, 700))) {
    let length = 0;
    for await (const bytes of entry.content()) length += bytes.length;
    contents.push(length);
  }
  expect(contents).toEqual([3, 5000, 0]);
});

test("the stream is read to its end, where padding comes after the archive's own", async () => {
  let ended = false;
  const padded = async function* () {
    yield GOOD;
    for (let times = 0; times < 3; times++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      yield Buffer.alloc(10_240);
    }
    ended = true;
  };
  const found: string[] = [];
  for await (const { name } of readTar(padded())) found.push(name);
  expect({ count: found.length, ended }).toEqual({ count: 3, ended: true });
});

test("pax names are taken, and pax sizes refused", async () => {
  const pax = (record: string) =>
    tar([
      { name: "pax", type: "x", content: record },
      { name: "./short", content: "s" },
    ]);
  expect(await names(pax("20 path=./much/long\n"))).toEqual(["./much/long"]);
  await failure(() => names(pax("16 size=9999999\n")), "DEB_UNREADABLE");
  await failure(() => names(pax("999 path=./x\n")), "DEB_UNREADABLE");
});

test("a wrong checksum and an archive cut short are refused", async () => {
  const spoilt = Buffer.from(GOOD);
  spoilt.writeUInt8(0x7a, 2);
  await failure(() => names(spoilt), "DEB_UNREADABLE");
  await failure(() => names(GOOD.subarray(0, 700)), "DEB_UNREADABLE");
  await failure(() => names(GOOD.subarray(0, 5000)), "DEB_UNREADABLE");
});

test("no bytes give anything but entries or a RootfsError", async () => {
  const change = fc.record({ at: fc.nat(GOOD.length - 1), byte: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 8 }), async (changes) => {
      const bytes = Buffer.from(GOOD);
      for (const { at, byte } of changes) bytes.writeUInt8(byte, at);
      await names(bytes).catch((error) => expect(error).toBeInstanceOf(RootfsError));
    }),
    { numRuns: 500 },
  );
});
