import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { StepEvent } from "../../src/evidence/events.js";
import { progressOn } from "../../src/render/progress.js";
import { KeptOutput } from "../support/output.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const event = (
  step: string,
  end?: { durationMs: number; outcome: "ok" | "failed" | "interrupted" },
): StepEvent => {
  const base = { version: 1 as const, step, monotonicMs: 1, at: "2026-01-01T00:00:00Z" };
  return end ? { ...base, event: "end", ...end } : { ...base, event: "start" };
};

test("on a pipe a finished step is one plain line with how long it took", async () => {
  const output = new KeptOutput();
  const progress = progressOn(output, { env: {} });
  await progress.step("mounting the root", async () => {
    vi.advanceTimersByTime(250);
  });
  await expect(progress.step("booting", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(output.text).toBe("✓ mounting the root (250 ms)\n✗ booting (0 ms, failed)\n");
});

test("on a pipe a long step is named once while it runs", async () => {
  const output = new KeptOutput();
  await progressOn(output, { env: {} }).step("building", async () => {
    vi.advanceTimersByTime(5000);
  });
  expect(output.text).toBe("… building\n✓ building (5.0 s)\n");
});

test("on a terminal a live line is drawn over and taken away", async () => {
  const output = new KeptOutput(true, 60);
  const progress = progressOn(output, { env: { NO_COLOR: "1" } });
  await progress.step("digesting", async () => {
    progress.update("40 %");
    vi.advanceTimersByTime(300);
  });
  expect(output.text).toContain("\r\u001b[2K… digesting 40 % 300 ms");
  expect(output.text.endsWith("✓ digesting (300 ms)\n\r\u001b[2K")).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});

test("a live line never wraps, whatever a label holds", () => {
  const output = new KeptOutput(true, 40);
  const progress = progressOn(output, { env: { NO_COLOR: "1" } });
  progress.onStep(event(`long\u001b[2J${"x".repeat(200)}`));
  const [, drawn] = output.text.split("\u001b[2K");
  expect(drawn?.length).toBe(39);
  expect(drawn).not.toContain("\u001b");
  progress.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("steps of an evidence log are shown, side by side ones too, with the log's own durations", () => {
  const output = new KeptOutput();
  const { onStep } = progressOn(output, { env: {} });
  onStep(event("restore/1"));
  onStep(event("restore/2"));
  onStep(event("restore/1", { durationMs: 120, outcome: "ok" }));
  onStep(event("restore/2", { durationMs: 95, outcome: "interrupted" }));
  expect(output.text).toBe("✓ restore/1 (120 ms)\n- restore/2 (95 ms, interrupted)\n");
  expect(vi.getTimerCount()).toBe(0);
});

test("a quiet progress writes nothing", async () => {
  const output = new KeptOutput(true);
  const progress = progressOn(output, { quiet: true });
  await progress.step("x", async () => progress.note("y"));
  expect(output.text).toBe("");
});
