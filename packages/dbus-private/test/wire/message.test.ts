import native from "@homebridge/dbus-native/lib/message.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Decoder } from "../../src/wire/decode.js";
import { decodeMessage, encodeCall, messageLength } from "../../src/wire/message.js";
import { parseSignature } from "../../src/wire/signature.js";

// A second implementation, @homebridge/dbus-native, writes what we read and reads what we write.

const text = fc.string({ unit: "binary", maxLength: 20 }).map((value) => value.replaceAll("\0", ""));

/** A signature with a value as the library takes it and as we give it. */
const basics = fc.oneof(
  text.map((value) => ["s", value, value] as const),
  fc.nat(255).map((value) => ["y", value, value] as const),
  fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }).map((value) => ["n", value, value] as const),
  fc.nat(2 ** 16 - 1).map((value) => ["q", value, value] as const),
  fc.integer().map((value) => ["i", value, value] as const),
  fc.nat(2 ** 32 - 1).map((value) => ["u", value, value] as const),
  // The library writes -0 as 0 and refuses infinities.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => ["d", value + 0, value + 0] as const),
  fc.boolean().map((value) => ["b", value, value] as const),
);

const values = basics.chain(([code, theirs, ours]) =>
  fc.constantFrom(
    [code, theirs, ours] as const,
    [`(s${code})`, ["x", theirs], ["x", ours]] as const,
    ["v", [code, theirs], { signature: code, value: ours }] as const,
    [`a{s${code}}`, [["k", theirs]], [["k", ours]]] as const,
    [`aa(${code})`, [[[theirs]], []], [[[ours]], []]] as const,
  ),
);

test("what the library writes is read as it was", () => {
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 5 }), (list) => {
      const signature = list.map(([code]) => code).join("");
      const body = list.map(([, theirs]) => theirs);
      const bytes = native.marshall({ serial: 7, type: 2, replySerial: 3, sender: ":1.2", signature, body });
      expect(messageLength(bytes)).toBe(bytes.length);
      const message = decodeMessage(bytes);
      expect(message).toMatchObject({ type: 2, serial: 7, replySerial: 3, sender: ":1.2" });
      expect(message.body).toEqual(list.map(([, , ours]) => ours));
    }),
  );
});

test("what we write is read by the library as it was", () => {
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 2 ** 31 }),
      (args, serial) => {
        const call = { destination: "a.b", path: "/a/b", interface: "a.c", member: "Do", args };
        const { type, ...message } = native.unmarshall(encodeCall(call, serial));
        expect(type).toBe(1);
        expect(message).toMatchObject({
          destination: "a.b",
          path: "/a/b",
          interface: "a.c",
          member: "Do",
          serial,
        });
        expect(message.body).toEqual(args);
      },
    ),
  );
});

test("64-bit numbers, which the library cannot write on every Node, are read in full", () => {
  const bytes = Buffer.alloc(16);
  bytes.writeBigInt64LE(-(2n ** 62n), 0);
  bytes.writeBigUInt64LE(2n ** 64n - 1n, 8);
  expect(new Decoder(bytes, true).values("xt")).toEqual([-(2n ** 62n), 2n ** 64n - 1n]);
});

test("bytes of any kind are read or refused by name, never more", () => {
  const seed = native.marshall({ serial: 1, type: 2, signature: "a(sv)", body: [[["k", ["u", 7]]]] });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(seed.length - 1), fc.nat(255)), { maxLength: 8 }),
      fc.nat(seed.length),
      (changes, length) => {
        const bytes = Buffer.from(seed);
        for (const [at, value] of changes) bytes[at] = value;
        try {
          decodeMessage(bytes.subarray(0, Math.max(16, length)));
        } catch (error) {
          expect(error).toMatchObject({ code: "PROTOCOL" });
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test.each([
  "()",
  "a()",
  "a{}",
  "a{sv",
  "(s",
  "e",
  "a",
  "a{vs}",
  "{sv}",
  `${"a".repeat(40)}s`,
  "y".repeat(256),
])("the signature %s is refused", (signature) => {
  expect(() => parseSignature(signature)).toThrowError(expect.objectContaining({ code: "PROTOCOL" }));
});

test("an array that says it is longer than its message is refused before anything is read", () => {
  const bytes = Buffer.from([0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 1, 2, 3, 4]);
  expect(() => new Decoder(bytes, true).values("a(y)")).toThrowError(/longer than its message/);
});

test("variants in variants without end are refused", () => {
  const bytes = Buffer.from([..."\x01v\0"].map((character) => character.charCodeAt(0)));
  const nested = Buffer.concat(Array.from({ length: 10_000 }, () => bytes));
  expect(() => new Decoder(nested, true).values("v")).toThrowError(/nested too deep/);
});

test("a header that announces a huge message is refused", () => {
  const header = Buffer.alloc(16);
  header.write("l\x02\x00\x01", "latin1");
  header.writeUInt32LE(0x7fffffff, 4);
  expect(() => messageLength(header)).toThrowError(expect.objectContaining({ code: "PROTOCOL" }));
});

test("big-endian messages are read too", () => {
  const header = Buffer.alloc(24);
  header.write("B\x02\x00\x01", "latin1");
  header.writeUInt32BE(9, 8);
  header.writeUInt32BE(8, 12);
  header.set([5, 1, 0x75, 0, 0, 0, 0, 4], 16);
  expect(messageLength(header)).toBe(24);
  expect(decodeMessage(header)).toMatchObject({ serial: 9, replySerial: 4, body: [] });
});
