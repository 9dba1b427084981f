import { describe, expect, test } from "vitest";
import { type Frame, looksLikeFailurePage, pixelStats, shrink } from "../../src/index.js";
import { capture, copy, flat, paint, recolour } from "../support/frames.js";

const page = capture("oh-no-no-system-bus");
const looks = (frame: Frame) => looksLikeFailurePage(frame, pixelStats(frame));

/** The page's middle, put on a screen of another size. */
function onScreen(width: number, height: number, source = page): Frame {
  const [from, to] = [
    { x: 320, y: 260 },
    { x: Math.round(width / 2 - 320), y: Math.round(height / 2 - 110) },
  ];
  const target = flat(width, height, [246, 245, 244]);
  for (let y = 0; y < 230; y++) {
    const at = ((from.y + y) * source.width + from.x) * 4;
    target.pixels.set(source.pixels.subarray(at, at + 640 * 4), ((to.y + y) * width + to.x) * 4);
  }
  return target;
}

describe("the failure page is known by its layout", () => {
  test("as captured, in a dark theme, on other screens, scaled", () => {
    expect(looks(page)).toBe(true);
    expect(looks(recolour(page, (value) => 255 - value))).toBe(true);
    expect(looks(onScreen(1920, 1080))).toBe(true);
    expect(looks(onScreen(1024, 768))).toBe(true);
    expect(looks(shrink(page, 1000))).toBe(true);
  });

  test("with a cursor on it, and with its button", () => {
    const cursor = paint(copy(page), { x: 1000, y: 600, width: 12, height: 20 }, [0, 0, 0]);
    const button = paint(copy(page), { x: 590, y: 520, width: 100, height: 34 }, [220, 219, 218]);
    expect(looks(cursor)).toBe(true);
    expect(looks(button)).toBe(true);
  });
});

describe("what is not the failure page", () => {
  test.each([
    "black-with-cursor-adwaita-bare",
    "gnome-frame-1.40s",
    "gnome-frame-1.60s",
    "gnome-settled-overview",
    "gnome-writer",
    "gnome-writer-in-overview",
    "openbox-xterm",
  ])("%s", (name) => expect(looks(capture(name))).toBe(false));

  test("a centred dialog on a flat wallpaper", () => {
    const dialog = paint(
      flat(1280, 800, [60, 90, 120]),
      { x: 440, y: 300, width: 400, height: 200 },
      [240, 240, 240],
    );
    paint(dialog, { x: 460, y: 340, width: 300, height: 14 }, [0, 0, 0]);
    expect(looks(dialog)).toBe(false);
  });

  test("the same page under a panel, or beside a window: then a desktop runs", () => {
    const panel = paint(copy(page), { x: 0, y: 0, width: 1280, height: 32 }, [0, 0, 0]);
    const window = paint(copy(page), { x: 100, y: 100, width: 300, height: 150 }, [0, 0, 0]);
    expect(looks(panel)).toBe(false);
    expect(looks(window)).toBe(false);
  });

  test("centred lines of text alone, as of a start page or an editor", () => {
    const lines = flat(1280, 800, [255, 255, 255]);
    for (const [row, width] of [420, 300, 510, 280].entries())
      for (let word = 0; word < width; word += 34)
        paint(
          lines,
          { x: 640 - width / 2 + word, y: 300 + row * 30, width: 11 + ((word * 7) % 19), height: 12 },
          [40, 40, 40],
        );
    expect(looks(lines)).toBe(false);
  });
});
