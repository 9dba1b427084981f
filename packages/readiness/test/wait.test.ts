import { describe, expect, test } from "vitest";
import { testNeeding } from "../../../tools/testing/needs.js";
import { connectX, type Frame, gatherFacts, judge, ReadinessError, waitUntilReady } from "../src/index.js";
import { capture, copy, flat, paint } from "./support/frames.js";
import { end, startXvfb } from "./support/xvfb.js";

const ready = capture("openbox-xterm");
const black = capture("black-with-cursor-adwaita-bare");
const FAST = { pollMs: 5, settleMs: 40, timeoutMs: 10_000 };

/** Gives the frames one after another, the last one for ever. */
function film(...frames: Frame[]): () => Promise<Frame> {
  const left = [...frames];
  return async () => (left.length > 1 ? left.shift() : left[0]) as Frame;
}

describe("waitUntilReady", () => {
  test("returns once the screen is ready and has stayed so", async () => {
    const names: string[] = [];
    const panel = capture("gnome-frame-1.60s");
    const result = await waitUntilReady({
      ...FAST,
      frame: film(black, black, panel, ready),
      onVerdict: ({ name }) => names.push(name),
    });
    expect(names).toEqual(["black", "nothing-but-panel", "ready"]);
    expect(result.history.map(({ name }) => name)).toEqual(names);
    expect(result.verdict).toMatchObject({ ready: true, facts: "none" });
    expect(result.verdict.measured?.changedFraction).toBe(0);
    expect(result.frames).toHaveLength(2);
    expect(result.polls).toBeGreaterThan(4); // one look at a ready screen does not settle it
  });

  test("does not take a screen that goes on changing, however slowly, for settled", async () => {
    let width = 0;
    const growing = async () => {
      width = Math.min(width + 14, 504); // 0.4 % of the screen: less than may change from one look to the next
      return paint(copy(ready), { x: 700, y: 100, width, height: 300 }, [250, 250, 250]);
    };
    const { verdict, history } = await waitUntilReady({
      ...FAST,
      settleMs: 3_000,
      timeoutMs: 50_000,
      frame: growing,
    });
    expect(verdict.ready).toBe(true);
    expect(width).toBe(504);
    expect(history.map(({ name }) => name)).toContain("still-changing");
  });

  test("gives the last verdict when the time is up", async () => {
    const result = await waitUntilReady({ ...FAST, timeoutMs: 60, frame: film(black) });
    expect(result.verdict.name).toBe("black");
    expect(result.elapsedMs).toBeGreaterThanOrEqual(60);
  });

  test("does not call a screen ready that became so at the very end", async () => {
    const result = await waitUntilReady({ ...FAST, settleMs: 5_000, timeoutMs: 60, frame: film(ready) });
    expect(result.verdict).toMatchObject({ name: "still-changing", ready: false });
  });

  test("waits for a server that is not there yet, and for one whose frame file is still empty", async () => {
    let tries = 0;
    const frame = async () => {
      tries++;
      if (tries < 3) throw Object.assign(new Error("connect ENOENT /tmp/.X11-unix/X0"), { code: "ENOENT" });
      if (tries < 5) throw new ReadinessError("BAD_XWD", "0 bytes are no XWD header", { hint: "wait" });
      return ready;
    };
    const { verdict, history } = await waitUntilReady({ ...FAST, frame });
    expect(history.map(({ name }) => name)).toEqual(["no-screen", "ready"]);
    expect(verdict.ready).toBe(true);
  });

  test("never hangs on a frame or facts that do not come", async () => {
    const frame = () => new Promise<Frame>(() => {});
    const { verdict } = await waitUntilReady({ ...FAST, timeoutMs: 100, callTimeoutMs: 30, frame });
    expect(verdict).toMatchObject({ name: "x-server-mute", ready: false });
    expect(verdict.remedy).toBeDefined();
  });

  test("keeps the last verdict when the last look is cut short by the end of the time", async () => {
    let looks = 0;
    const frame = () => (++looks < 2 ? Promise.resolve(black) : new Promise<Frame>(() => {}));
    const { verdict, polls } = await waitUntilReady({ ...FAST, timeoutMs: 2_000, frame });
    expect([verdict.name, polls]).toEqual(["black", 2]);
  });

  test("stops at once when it is aborted, with the reason", async () => {
    const abort = new AbortController();
    const waiting = waitUntilReady({
      ...FAST,
      pollMs: 60_000,
      timeoutMs: 60_000,
      frame: film(black),
      signal: abort.signal,
    });
    abort.abort("Ctrl-C");
    await expect(waiting).rejects.toMatchObject({ code: "ABORTED", cause: "Ctrl-C" });
  });

  test("passes on a fault that is not the server's", async () => {
    const frame = async () => {
      throw new TypeError("a mistake of the caller's");
    };
    await expect(waitUntilReady({ ...FAST, frame })).rejects.toThrow(TypeError);
  });

  test("looks at a ready screen again when it has stood still for long enough, not a poll later", async () => {
    const { verdict, polls } = await waitUntilReady({
      frame: film(ready),
      pollMs: 600_000,
      settleMs: 60,
      timeoutMs: 500_000,
    });
    expect([verdict.name, polls]).toEqual(["ready", 2]);
  });

  test("is woken before its poll is due", async () => {
    let calls = 0;
    const wake = async () => {
      calls++;
    };
    const { verdict } = await waitUntilReady({
      frame: film(black, ready),
      pollMs: 9_000,
      settleMs: 0,
      timeoutMs: 20_000,
      wake,
    });
    expect(verdict.ready).toBe(true);
    expect(calls).toBeGreaterThan(0);
  });
});

testNeeding(
  ["program:Xvfb", "program:openbox", "program:xterm"],
  "a server that is killed in mid-wait ends the wait: x-server-gone",
  async () => {
    const server = await startXvfb();
    try {
      const x = await connectX(await server.connect());
      const result = await waitUntilReady({
        frame: server.frame,
        facts: () => gatherFacts(x),
        timeoutMs: 60_000,
        onVerdict: ({ name }) => void (name === "no-window-manager" && end(server.process, "SIGKILL")),
      });
      expect(result.verdict).toMatchObject({ name: "x-server-gone", ready: false });
      expect(result.elapsedMs).toBeLessThan(60_000);
    } finally {
      await server.stop();
    }
  },
);

test("a verdict is plain data: it goes through JSON unchanged", () => {
  const verdict = judge({ frames: [black, flat(1280, 800)] });
  expect(JSON.parse(JSON.stringify(verdict))).toEqual(verdict);
});
