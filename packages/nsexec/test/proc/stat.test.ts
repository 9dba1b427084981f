import fc from "fast-check";
import { expect, test } from "vitest";
import { parseStat, readStartTime, readStat } from "../../src/proc/index.js";

const statLine = (name: string) =>
  `42 (${name}) S 1 40 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 987654321 1000 10 18446744073709551615 1 1\n`;

test("the fields are found whatever the name is", () => {
  expect(parseStat(statLine("sh"))).toEqual({
    pid: 42,
    name: "sh",
    state: "S",
    ppid: 1,
    pgrp: 40,
    session: 41,
    startTime: 987654321n,
  });
});

test.each([["(sd-pam)"], ["a) R 9 (b"], [") "], ["a b"], ["line\nbreak"], [""]])(
  "the name %j is taken whole",
  (name) => {
    expect(parseStat(statLine(name))).toMatchObject({
      pid: 42,
      name,
      state: "S",
      ppid: 1,
      startTime: 987654321n,
    });
  },
);

test("no name can forge another field", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 15 }), (name) => {
      expect(parseStat(statLine(name))).toMatchObject({ name, ppid: 1, startTime: 987654321n });
    }),
  );
});

test.each(["", "42 sh S 1", "42 (sh) S 1 2 3", "x (sh) S 1 40 41 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 7"])(
  "%j is refused",
  (text) => {
    expect(() => parseStat(text)).toThrow(expect.objectContaining({ code: "PROC_FORMAT" }));
  },
);

test("this process's pid and start time are read, the same each time", async () => {
  expect(await readStat("self")).toMatchObject({ pid: process.pid, ppid: process.ppid });
  expect(await readStartTime(process.pid)).toBe(await readStartTime("self"));
});
