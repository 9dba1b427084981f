import { expect, test } from "vitest";
import { Bell, wakeOnAny } from "../src/bell.js";

test("what happens while nobody waits is kept for the next who does, once", async () => {
  const bell = new Bell();
  bell.ring();
  bell.ring();
  expect(await bell.changed(60_000)).toBe(true);
  expect(await bell.changed(5)).toBe(false);
});

test("a wait is woken at once, and an aborted one takes nothing from the next", async () => {
  const bell = new Bell();
  const woken = bell.changed(60_000);
  bell.ring();
  expect(await woken).toBe(true);
  const stop = new AbortController();
  const left = bell.changed(60_000, { signal: stop.signal });
  stop.abort();
  expect(await left).toBe(false);
  bell.ring();
  expect(await bell.changed(60_000, { signal: stop.signal })).toBe(false);
  expect(await bell.changed(60_000)).toBe(true);
});

test("of several bells the first wakes, and the others keep what they will ring", async () => {
  const [one, two] = [new Bell(), new Bell()];
  const wake = wakeOnAny(one, two);
  const first = wake(60_000);
  two.ring();
  expect(await first).toBe(true);
  one.ring();
  expect(await wake(60_000)).toBe(true);
  expect(await wake(5)).toBe(false);
});
