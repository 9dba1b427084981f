import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseFactsText, ReadinessError } from "../src/index.js";
import { captureFacts, text } from "./support/frames.js";

describe("parseFactsText", () => {
  test("reads openbox with one xterm", () => {
    const facts = captureFacts("openbox-xterm");
    expect(facts).toMatchObject({
      source: "text",
      screen: { width: 1280, height: 800 },
      windowManager: { checkWindow: 0x20000e, name: "Openbox" },
      openboxTheme: "Clearlooks",
      clientList: [0x40000c],
      activeWindow: 0x40000c,
    });
    expect(facts?.windows[0]).toEqual({
      id: 0x40000c,
      title: "sh",
      instance: "xterm",
      class: "XTerm",
      claimedPid: 61,
      geometry: { x: 101, y: 120, width: 484, height: 316 },
      mapped: true,
      managed: true,
      states: [],
      types: [],
      focused: true,
    });
    expect(facts?.windows).toHaveLength(98);
  });

  test("reads an empty Overview: no client, no active window, no size of an unmapped guess", () => {
    const facts = captureFacts("gnome-settled-overview");
    expect(facts).toMatchObject({ windowManager: { name: "GNOME Shell" }, clientList: [] });
    expect(facts).not.toHaveProperty("activeWindow");
    const guard = facts?.windows.find(({ title }) => title === "mutter guard window");
    expect(guard).toMatchObject({ managed: false, geometry: { x: 0, y: 0, width: 1280, height: 800 } });
    expect(guard).not.toHaveProperty("mapped");
  });

  test("reads Writer, whose icon is drawn into its text", () => {
    const writer = captureFacts("gnome-writer")?.windows[0];
    expect(writer).toMatchObject({
      title: "Untitled 1 - LibreOffice Writer",
      class: "libreoffice-writer",
      geometry: { x: 0, y: 69, width: 1280, height: 731 },
      claimedPid: 1452,
      mapped: true,
      focused: true,
      types: ["_NET_WM_WINDOW_TYPE_NORMAL"],
    });
    expect(writer?.states).toContain("_NET_WM_STATE_MAXIMIZED_VERT");
  });

  test("keeps a managed window of which only the id is known", () => {
    const facts = captureFacts("gnome-writer-in-overview");
    expect(facts?.windows).toEqual([{ id: 0x1400075, managed: true, states: [], types: [], focused: false }]);
  });

  test("finds the window of a text among several by title and class", () => {
    const root = text("openbox-xterm-xprop-root.txt").replaceAll("# 0x40000c", "# 0x1, 0x40000c");
    const facts = parseFactsText({
      root,
      tree: text("openbox-xterm-xwininfo-tree.txt"),
      windows: [text("openbox-xterm-xprop-id.txt")],
    });
    expect(facts.windows.slice(0, 2).map(({ id, claimedPid }) => [id, claimedPid])).toEqual([
      [1, undefined],
      [0x40000c, 61],
    ]);
  });

  test("takes control characters out of titles", () => {
    const tree = '     0x1 "red\u001b[31m": ("a" "B")  10x10+0+0  +0+0\n';
    const { windows } = parseFactsText({ root: "A(INTEGER) = 1", tree });
    expect(windows[0]?.title).toBe("red\ufffd[31m");
  });

  test("refuses a text that is no property list, and one without an end", () => {
    for (const root of ["", "xprop:  unable to open display ''", "A(INTEGER) = 1\n".repeat(400_000)])
      expect(() => parseFactsText({ root })).toThrow(expect.objectContaining({ code: "BAD_FACTS_TEXT" }));
  });

  test("answers any text with facts or a ReadinessError", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (root, tree) => {
        try {
          expect(parseFactsText({ root: `A(CARDINAL) = ${root}`, tree, windows: [root] }).source).toBe(
            "text",
          );
        } catch (error) {
          expect(error).toBeInstanceOf(ReadinessError);
        }
      }),
    );
  });
});
