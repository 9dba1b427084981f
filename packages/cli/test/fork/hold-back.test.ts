import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { hasMemory, holdBack } from "../../src/fork/hold-back.js";

const MIB = 2 ** 20;
const meminfo = (availableMib: number) => `MemTotal: 8388608 kB\nMemAvailable: ${availableMib * 1024} kB\n`;

test("a sibling has memory above the floor, beside those that have not taken theirs yet", () => {
  const floor = 8192 / 20;
  expect(hasMemory(meminfo(Math.ceil(floor) + 300), 100 * MIB, 2)).toBe(true);
  expect(hasMemory(meminfo(Math.ceil(floor) + 299), 100 * MIB, 2)).toBe(false);
  expect(hasMemory(undefined, 100 * MIB, 9)).toBe(true);
});

test("one is held back until there is room", async () => {
  let room = false;
  let begun = false;
  const mayBegin = holdBack({ hasRoom: () => room, reason: () => "", wait: true, pollMs: 1 });
  const held = mayBegin(0).then(() => {
    begun = true;
  });
  await sleep(20);
  expect(begun).toBe(false);
  room = true;
  await held;
});

test("without --wait it is given up once none is on the way, and says what is missing", async () => {
  const mayBegin = holdBack({ hasRoom: () => false, reason: () => "too little", wait: false, pollMs: 5 });
  await expect(mayBegin(0)).rejects.toMatchObject({ code: "NO_ROOM", exitCode: 3, why: "too little" });
});

test("an abort ends the wait", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const held = holdBack({ hasRoom: () => false, reason: () => "", wait: true, signal })(0);
  controller.abort();
  await expect(held).rejects.toMatchObject({ name: "AbortError" });
});
