import { readFileSync } from "node:fs";
import type { Box, Frame } from "../../src/index.js";
import { type BusFacts, type DesktopFacts, decodePng, parseFactsText } from "../../src/index.js";

export type Colour = readonly [red: number, green: number, blue: number];

/** A frame of one colour. */
export function flat(width: number, height: number, colour: Colour = [0, 0, 0]): Frame {
  const frame = { width, height, pixels: new Uint8Array(width * height * 4) };
  return paint(frame, { x: 0, y: 0, width, height }, colour);
}

/** Fills a box, in place. */
export function paint(frame: Frame, box: Box, [red, green, blue]: Colour): Frame {
  for (let y = box.y; y < box.y + box.height; y++)
    for (let x = box.x; x < box.x + box.width; x++)
      frame.pixels.set([red, green, blue, 255], (y * frame.width + x) * 4);
  return frame;
}

export function copy(frame: Frame): Frame {
  return { ...frame, pixels: Uint8Array.from(frame.pixels) };
}

/** Every colour put through `change`. */
export function recolour(frame: Frame, change: (value: number) => number): Frame {
  const pixels = Uint8Array.from(frame.pixels, (value, index) => (index % 4 === 3 ? value : change(value)));
  return { ...frame, pixels };
}

const FIXTURES = new URL("../fixtures/", import.meta.url);

export function text(name: string): string {
  return readFileSync(new URL(name, FIXTURES), "utf8");
}

export function capture(name: string): Frame {
  return decodePng(readFileSync(new URL(`${name}.png`, FIXTURES)));
}

/** The facts kept beside a capture: window texts only where the capture has its own. */
export function captureFacts(name: string) {
  const texts: Record<string, () => Parameters<typeof parseFactsText>[0]> = {
    "gnome-settled-overview": () => ({
      root: text("gnome-overview-xprop-root.txt"),
      tree: text("gnome-overview-xwininfo-tree.txt"),
    }),
    "gnome-writer-in-overview": () => ({ root: text("gnome-writer-overview-xprop-root.txt") }),
    "gnome-writer": () => ({
      root: text("gnome-writer-xprop-root.txt"),
      tree: text("gnome-writer-xwininfo-tree.txt"),
      windows: [text("gnome-writer-xprop-id.txt")],
    }),
    "openbox-xterm": () => ({
      root: text("openbox-xterm-xprop-root.txt"),
      tree: text("openbox-xterm-xwininfo-tree.txt"),
      windows: [text("openbox-xterm-xprop-id.txt")],
    }),
  };
  const found = texts[name];
  return found && parseFactsText(found());
}

/** What X server and session bus said when a capture of test/fixtures/gnome was taken. */
export function gnomeFacts(name: string): { readonly facts: DesktopFacts; readonly bus: BusFacts } {
  return JSON.parse(text(`gnome/${name}.json`));
}
