import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  changedRegion,
  connectX,
  type DesktopFacts,
  defaultRules,
  focusWindow,
  gatherFacts,
  judge,
  parseXwd,
  pressKey,
  readScreen,
  typeText,
  waitUntilReady,
  watchDamage,
  type XSession,
} from "../../src/index.js";
import { startOpenbox } from "../support/openbox.js";
import { end, startXvfb, type Xvfb } from "../support/xvfb.js";

const DESKTOP = ["program:Xvfb", "program:openbox", "program:xterm"] as const;
let server: Xvfb | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

/** openbox with one terminal, waited for as a user would. */
async function desktop(): Promise<{ xvfb: Xvfb; x: XSession; facts: DesktopFacts }> {
  const xvfb = await startXvfb();
  server = xvfb;
  const x = await connectX(await xvfb.connect());
  await startOpenbox(xvfb, x);
  xvfb.start("xterm", "-geometry", "80x24+100+100", "-e", "sh");
  const { verdict, facts, history } = await waitUntilReady({
    frame: xvfb.frame,
    facts: () => gatherFacts(x),
    rules: defaultRules({ window: { class: /^XTerm$/, focused: true } }),
  });
  expect(verdict.ready, JSON.stringify([verdict.reasons, history])).toBe(true);
  if (facts === undefined) throw new Error("a ready desktop has facts");
  return { xvfb, x, facts };
}

function terminalOf(facts: DesktopFacts) {
  const found = facts.windows.find((window) => window.class === "XTerm");
  if (found === undefined) throw new Error("there is no terminal");
  return found;
}

async function fileText(path: string): Promise<string> {
  for (let tries = 0; tries < 400; tries++) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.endsWith("\n")) return text;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`${path} was never written`);
}

testNeeding(DESKTOP, "a real openbox with a terminal is ready, and its facts are the true ones", async () => {
  const { xvfb, facts } = await desktop();
  expect(facts).toMatchObject({
    source: "x11",
    screen: { width: 1280, height: 800 },
    windowManager: { name: "Openbox" },
    openboxTheme: expect.any(String),
    windowsLeftOut: 0,
  });
  expect(facts.monitors).toHaveLength(1);
  expect(facts.extensions).toContain("XTEST");
  const terminal = terminalOf(facts);
  expect(terminal).toMatchObject({ managed: true, mapped: true, focused: true, claimedPid: terminal.pid });
  expect(terminal.geometry).toMatchObject({ x: 101, width: 484, height: 316 });
  expect(facts.clientList).toEqual([terminal.id]);
  expect(xvfb.process.exitCode).toBeNull();
});

testNeeding(DESKTOP, "a typed sentence reaches the shell with every shifted character", async () => {
  const { xvfb, x, facts } = await desktop();
  const sentence = 'The Quick (brown) fox, 100% {of} it: ~@#^&*_+|<>?! "and" so-on/that=this;';
  const terminal = terminalOf(facts);
  const before = await xvfb.frame();
  await typeText(x, `cat > said.txt\n${sentence}\n`, { window: terminal.id });
  await pressKey(x, "Ctrl+d");
  expect(await fileText(join(xvfb.folder, "said.txt"))).toBe(`${sentence}\n`);
  const changed = changedRegion(before, await xvfb.frame(), {
    ...(terminal.geometry && { within: terminal.geometry }),
  });
  expect(changed?.width).toBeGreaterThanOrEqual(6 * 40);
});

testNeeding(DESKTOP, "keys go to the window that was asked for, though another has the focus", async () => {
  const { xvfb, x, facts } = await desktop();
  const first = terminalOf(facts);
  xvfb.start("xterm", "-geometry", "40x10+700+400", "-T", "second", "-e", "sh");
  const { facts: both } = await waitUntilReady({
    frame: xvfb.frame,
    facts: async () => {
      const found = await gatherFacts(x);
      if (!found.windows.some(({ title, focused }) => title === "second" && focused))
        return { ...found, windows: [] };
      return found;
    },
  });
  const second = both?.windows.find(({ title }) => title === "second");
  expect(second?.pid).not.toBe(first.pid);
  await typeText(x, "echo first > first.txt\n", { window: first.id });
  await typeText(x, "echo second > second.txt\n", { window: second?.id ?? 0 });
  expect(await fileText(join(xvfb.folder, "first.txt"))).toBe("first\n");
  expect(await fileText(join(xvfb.folder, "second.txt"))).toBe("second\n");
});

testNeeding(
  DESKTOP,
  "a window that is gone does not get the focus, and a key that is none is refused",
  async () => {
    const { x, facts } = await desktop();
    await expect(focusWindow(x, terminalOf(facts).id + 0x1000, { timeoutMs: 200 })).rejects.toMatchObject({
      code: "FOCUS_REFUSED",
    });
    await expect(typeText(x, "Ж")).rejects.toMatchObject({ code: "NO_KEY" });
  },
);

testNeeding(DESKTOP, "damage is told as soon as something is drawn", async () => {
  const { x, facts } = await desktop();
  const watch = await watchDamage(x);
  while (await watch.changed(1_000)) {} // what is still being drawn, as a cursor
  const seen = watch.changed(20_000);
  await typeText(x, "x", { window: terminalOf(facts).id });
  expect(await seen).toBe(true);
  watch.close();
});

testNeeding(["program:Xvfb"], "without a window manager the focus is set directly", async () => {
  server = await startXvfb();
  const x = await connectX(await server.connect());
  server.start("xterm", "-e", "sh");
  const { facts } = await waitUntilReady({
    frame: server.frame,
    facts: () => gatherFacts(x),
    rules: { name: "a terminal", checks: ({ facts: seen }) => [terminalCheck(seen)] },
  });
  await typeText(x, "echo bare > bare.txt\n", { window: terminalOf(facts as DesktopFacts).id });
  expect(await fileText(join(server.folder, "bare.txt"))).toBe("bare\n");
});

function terminalCheck(facts: DesktopFacts | undefined) {
  const ok = facts?.windows.some((window) => window.class === "XTerm" && window.mapped === true) ?? false;
  return { name: "a terminal", ok, detail: "", failure: { verdict: "no-window", remedy: "wait" } } as const;
}

testNeeding(["program:Xvfb"], "a bare server is refused: black, no window manager", async () => {
  server = await startXvfb();
  const x = await connectX(await server.connect());
  const verdict = judge({ frames: [await server.frame()], facts: await gatherFacts(x) });
  expect(verdict.name).toBe("no-window-manager");
  expect(verdict.checks.find(({ name }) => name === "something to see")).toMatchObject({
    ok: false,
    failure: { verdict: "black" },
  });
});

testNeeding(
  ["program:Xvfb", "program:openbox"],
  "openbox without RandR is no fault, without a window it is",
  async () => {
    server = await startXvfb("-extension", "RANDR");
    const x = await connectX(await server.connect());
    server.start("openbox");
    const { verdict, facts } = await waitUntilReady({
      frame: server.frame,
      facts: () => gatherFacts(x),
      timeoutMs: 3_000,
    });
    expect(facts).not.toHaveProperty("monitors");
    expect(verdict.name).toBe("no-window");
  },
);

testNeeding(["program:Xvfb"], "another client that grabs the server does not stall us", async () => {
  server = await startXvfb();
  const [x, other] = [await connectX(await server.connect()), await connectX(await server.connect())];
  await other.command(Buffer.from([36, 0, 1, 0]), { confirm: true }); // GrabServer
  expect((await gatherFacts(x, { timeoutMs: 4_000 })).clientList).toEqual([]);
});

testNeeding(["program:Xvfb"], "a server that was stopped is mute, one that was killed is gone", async () => {
  server = await startXvfb();
  const x = await connectX(await server.connect(), { timeoutMs: 1_000 });
  server.process.kill("SIGSTOP");
  await expect(gatherFacts(x)).rejects.toMatchObject({ code: "X_TIMEOUT" });
  server.process.kill("SIGCONT");
  const again = await connectX(await server.connect());
  await end(server.process, "SIGKILL");
  await expect(gatherFacts(again)).rejects.toMatchObject({ code: "X_SERVER_GONE" });
});

testNeeding(
  DESKTOP,
  "the screen that the server is asked for is that of its frame file, but for the cursor",
  async () => {
    const { xvfb, x } = await desktop();
    const [asked, kept] = [parseXwd(await readScreen(x)), await xvfb.frame()];
    expect([asked.width, asked.height]).toEqual([kept.width, kept.height]);
    const { pointer } = await gatherFacts(x);
    const changed = changedRegion(kept, asked);
    expect(changed?.x).toBeGreaterThanOrEqual((pointer?.x ?? 0) - 32);
    expect(changed?.width).toBeLessThanOrEqual(64);
    expect(changed?.height).toBeLessThanOrEqual(64);
  },
);
