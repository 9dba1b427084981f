import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { runQueue } from "../../src/fork/queue.js";

test("no more run at a time than allowed, and every one runs", async () => {
  let running = 0;
  let most = 0;
  const outcomes = await runQueue(
    7,
    async (number) => {
      most = Math.max(most, ++running);
      await sleep(2);
      running--;
      return number;
    },
    { concurrency: 3 },
  );
  expect(most).toBe(3);
  expect(outcomes).toEqual([1, 2, 3, 4, 5, 6, 7].map((value) => ({ status: "fulfilled", value })));
});

test("one that fails leaves the others alone", async () => {
  const outcomes = await runQueue(3, async (number) => {
    if (number === 2) throw new Error("no room");
    return number;
  });
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("after an abort nothing further is begun", async () => {
  const controller = new AbortController();
  const begun: number[] = [];
  const outcomes = await runQueue(
    3,
    async (number) => {
      begun.push(number);
      controller.abort();
    },
    { concurrency: 1, signal: controller.signal },
  );
  expect(begun).toEqual([1]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
});

test("each asks first whether it may begin, and tells how many run", async () => {
  const asked: number[] = [];
  const mayBegin = async (running: number) => void asked.push(running);
  await runQueue(3, async () => {}, { concurrency: 1, mayBegin });
  expect(asked).toEqual([0, 0, 0]);
  const refused = await runQueue(2, async () => "made", {
    mayBegin: async () => {
      throw new Error("no room");
    },
  });
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
});
