import { describe, expect, test } from "vitest";
import { type DesktopFacts, defaultRules, judge, type WindowFacts } from "../src/index.js";
import { capture, copy, flat, paint } from "./support/frames.js";

const terminal: WindowFacts = {
  id: 0x40000c,
  title: "sh",
  instance: "xterm",
  class: "XTerm",
  pid: 61,
  claimedPid: 61,
  geometry: { x: 0, y: 0, width: 1280, height: 800 },
  mapped: true,
  managed: true,
  overrideRedirect: false,
  states: [],
  types: ["_NET_WM_WINDOW_TYPE_NORMAL"],
  focused: true,
};

function facts(changes: Partial<DesktopFacts> = {}): DesktopFacts {
  return {
    source: "x11",
    screen: { width: 1280, height: 800 },
    windowManager: { name: "Openbox", checkWindow: 0x20000e },
    openboxTheme: "Clearlooks",
    monitors: [{ name: "screen", primary: true, x: 0, y: 0, width: 1280, height: 800 }],
    extensions: ["RANDR"],
    windows: [terminal],
    windowsLeftOut: 0,
    clientList: [terminal.id],
    activeWindow: terminal.id,
    pointer: { x: 640, y: 400 },
    ...changes,
  };
}

const gnome = { windowManager: { name: "GNOME Shell", checkWindow: 1 } };
const black = capture("black-with-cursor-adwaita-bare");
const desktop = capture("openbox-xterm");

describe("the default rule", () => {
  test("refuses the black screen with a cursor though window manager and program live", () => {
    const verdict = judge({ frames: [black, black], facts: facts({ ...gnome }) });
    expect(verdict).toMatchObject({ name: "black", ready: false, facts: "x11" });
    expect(verdict.remedy).toContain("MIT-SHM");
  });

  test("takes a black terminal with one prompt for what it is: a working dark desktop", () => {
    const prompt = paint(copy(black), { x: 4, y: 4, width: 6, height: 13 }, [229, 229, 229]);
    expect(judge({ frames: [prompt, prompt], facts: facts() }).name).toBe("ready");
  });

  test("names the cause of a bare screen from the facts", () => {
    const names = [
      facts({ windowManager: undefined } as never),
      facts({ ...gnome, monitors: [] }),
      facts({ ...gnome, monitors: undefined, extensions: [] } as never),
      facts({ windows: [], clientList: [] }),
    ].map((found) => judge({ frames: [black], facts: found }).name);
    expect(names).toEqual(["no-window-manager", "black-no-monitor", "black-no-monitor", "no-window"]);
  });

  test("waits for openbox to set its theme, though the screen is complete", () => {
    const { openboxTheme: _, ...early } = facts();
    expect(judge({ frames: [desktop], facts: early }).name).toBe("window-manager-starting");
  });

  test("calls a lit flat screen by its colour's name, not black", () => {
    const verdict = judge({ frames: [flat(1280, 800, [0, 60, 136])] });
    expect(verdict).toMatchObject({
      name: "one-colour",
      reasons: [expect.stringContaining("#003c88"), expect.anything()],
    });
  });

  test("refuses a failure page by its window, also when it hides behind a whole desktop", () => {
    const page = {
      ...terminal,
      id: 9,
      instance: "gnome-session-failed",
      class: "Gnome-session-failed",
      managed: false,
    };
    const found = facts({ ...gnome, windows: [terminal, page] });
    expect(judge({ frames: [capture("gnome-writer")], facts: found }).name).toBe("failure-page");
  });

  test("refuses a failure page by its layout when no window explains it", () => {
    const found = facts({ ...gnome, windows: [], clientList: [] });
    expect(judge({ frames: [capture("oh-no-no-system-bus")], facts: found }).name).toBe("failure-page");
  });

  test("lets two frames differ by a caret, not by a window", () => {
    const caret = paint(copy(desktop), { x: 104, y: 135, width: 6, height: 13 }, [255, 255, 255]);
    const window = paint(copy(desktop), { x: 700, y: 200, width: 300, height: 200 }, [255, 255, 255]);
    expect(judge({ frames: [desktop, caret] }).name).toBe("ready");
    expect(judge({ frames: [desktop, window] }).name).toBe("still-changing");
  });

  test("gives every failed check as a reason, the likeliest cause first", () => {
    const found = facts({ ...gnome, monitors: [] });
    const { reasons, checks, measured } = judge({ frames: [desktop, black], facts: found });
    expect(reasons.map((reason) => reason.split(":")[0])).toEqual([
      "a monitor",
      "GNOME has a RandR monitor",
      "something to see",
      "two frames agree",
    ]);
    expect(checks.length).toBeGreaterThan(reasons.length);
    expect(measured?.changedFraction).toBeGreaterThan(0.1);
  });

  test("refuses to judge no frame", () => {
    expect(() => judge({ frames: [] })).toThrow(expect.objectContaining({ code: "BAD_FRAME" }));
  });
});

describe("an expected window", () => {
  const judged = (window: Parameters<typeof defaultRules>[0], found = facts()) =>
    judge({ frames: [desktop], facts: found, rules: defaultRules(window) }).name;

  test("is found by class, title and the owner that the server knows", () => {
    expect(judged({ window: { class: /^xterm$/i, title: /sh/, pids: [61], focused: true } })).toBe("ready");
    expect(judged({ window: { class: /libreoffice/ } })).toBe("no-window");
    expect(judged({ window: { pids: [62] } })).toBe("no-window");
  });

  test("is not the one that lies about its pid", () => {
    const liar = facts({ windows: [{ ...terminal, claimedPid: 62 }] });
    expect(judged({ window: { pids: [62] } }, liar)).toBe("no-window");
  });

  test("is neither hidden, unmapped, too small, off the screen, nor a panel", () => {
    const bad: Partial<WindowFacts>[] = [
      { states: ["_NET_WM_STATE_HIDDEN"] },
      { mapped: false },
      { geometry: { x: 0, y: 0, width: 199, height: 400 } },
      { geometry: { x: 1280, y: 0, width: 400, height: 400 } },
      { types: ["_NET_WM_WINDOW_TYPE_DOCK"] },
      { managed: false },
    ];
    for (const change of bad)
      expect(judged({ window: { class: /XTerm/ } }, facts({ windows: [{ ...terminal, ...change }] }))).toBe(
        "no-window",
      );
  });

  test("is asked for its focus only where that is wanted", () => {
    const unfocused = facts({ windows: [{ ...terminal, focused: false }], activeWindow: 7 });
    expect(judged({ window: { class: /XTerm/ } }, unfocused)).toBe("ready");
    expect(judged({ window: { class: /XTerm/, focused: true } }, unfocused)).toBe("window-not-focused");
  });

  test("keeps its answer when the pattern is used again (a global one has a memory)", () => {
    const rules = { window: { class: /XTerm/g } };
    expect([judged(rules), judged(rules)]).toEqual(["ready", "ready"]);
  });
});
