import { ReadinessError } from "../errors.js";
import type { XSession } from "./connection.js";
import { focusWindow } from "./focus.js";
import { type KeyMap, readKeyMap, type Stroke } from "./keys.js";
import { type Extension, xtestKey } from "./requests.js";

export interface TypeOptions {
  /** Give this window the focus first. Default: type into whatever has it. */
  readonly window?: number;
  /** Pause after each character, for programs that lose fast keys. Default 0 ms. */
  readonly delayMs?: number;
}

/** Longer texts are for the clipboard or a file; this bounds what a mistake can do. */
const MAX_CHARACTERS = 65_536;
/** Characters sent before the server's answer is awaited. */
const BATCH = 64;

/**
 * Types text by XTEST, as a hand would: each character by its key, with Shift where the layout wants it.
 * `\n` is Return. Returns once the server has taken the last key; what the program does with it comes later.
 * Throws NO_KEY before anything is typed, X_EXTENSION_MISSING without XTEST, FOCUS_REFUSED for `window`.
 */
export async function typeText(x: XSession, text: string, options: TypeOptions = {}): Promise<void> {
  const { window, delayMs = 0 } = options;
  const characters = [...text].slice(0, MAX_CHARACTERS);
  const [xtest, keys] = await prepare(x);
  const shift = keys.key("Shift").keycode;
  const strokes = characters.map((character) => keys.character(character));
  if (window !== undefined) await focusWindow(x, window);
  for (const [index, stroke] of strokes.entries()) {
    press(x, xtest, stroke, shift);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (index % BATCH === BATCH - 1) await x.sync();
  }
  await x.sync();
}

/**
 * Presses a key, or a chord with its modifiers before it: `Return`, `Escape`, `Ctrl+s`, `Ctrl+Shift+F4`.
 * Throws as {@link typeText}.
 */
export async function pressKey(x: XSession, chord: string): Promise<void> {
  const [xtest, keys] = await prepare(x);
  const names = chord === "+" ? ["+"] : chord.split("+");
  const codes = names.flatMap((name) => {
    const { keycode, shift } = keys.key(name);
    return shift ? [keys.key("Shift").keycode, keycode] : [keycode];
  });
  for (const code of codes) x.command(xtestKey(xtest, code, true));
  for (const code of codes.reverse()) x.command(xtestKey(xtest, code, false));
  await x.sync();
}

async function prepare(x: XSession): Promise<[Extension, KeyMap]> {
  const [xtest, keys] = await Promise.all([x.extension("XTEST"), readKeyMap(x)]);
  if (xtest !== undefined) return [xtest, keys];
  throw new ReadinessError("X_EXTENSION_MISSING", "the X server has no XTEST, so nothing can be typed", {
    hint: "start the server without -tst and without `-extension XTEST`",
  });
}

function press(x: XSession, xtest: Extension, { keycode, shift }: Stroke, shiftKeycode: number): void {
  if (shift) x.command(xtestKey(xtest, shiftKeycode, true));
  x.command(xtestKey(xtest, keycode, true));
  x.command(xtestKey(xtest, keycode, false));
  if (shift) x.command(xtestKey(xtest, shiftKeycode, false));
}
