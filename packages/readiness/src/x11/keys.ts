import { ReadinessError } from "../errors.js";
import type { XSession } from "./connection.js";
import { getKeyboardMapping } from "./requests.js";

/** How to bring out one keysym: its key, with or without Shift. */
export interface Stroke {
  readonly keycode: number;
  readonly shift: boolean;
}

/** Keysyms of keys that are no characters (X11/keysymdef.h), by the names that `pressKey` takes. */
const NAMED: Readonly<Record<string, number>> = {
  BackSpace: 0xff08,
  Tab: 0xff09,
  Return: 0xff0d,
  Escape: 0xff1b,
  Home: 0xff50,
  Left: 0xff51,
  Up: 0xff52,
  Right: 0xff53,
  Down: 0xff54,
  Page_Up: 0xff55,
  Page_Down: 0xff56,
  End: 0xff57,
  Insert: 0xff63,
  Menu: 0xff67,
  Delete: 0xffff,
  Shift: 0xffe1,
  Ctrl: 0xffe3,
  Alt: 0xffe9,
  Super: 0xffeb,
  space: 0x20,
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`F${index + 1}`, 0xffbe + index])),
};

/** Latin-1 characters are their own keysyms; all others are Unicode plus this (X11 protocol, Appendix A). */
const UNICODE_KEYSYM = 0x0100_0000;

/** Which key brings out which keysym, from the server's keyboard mapping (first group). */
export async function readKeyMap(x: XSession): Promise<KeyMap> {
  const { minKeycode, maxKeycode } = x.setup;
  return new KeyMap(minKeycode, await x.call(getKeyboardMapping(minKeycode, maxKeycode - minKeycode + 1)));
}

export class KeyMap {
  readonly #strokes = new Map<number, Stroke>();

  constructor(firstKeycode: number, rows: readonly (readonly number[])[]) {
    for (const [index, [plain = 0, shifted = 0]] of rows.entries()) {
      const keycode = firstKeycode + index;
      this.#add(plain, { keycode, shift: false });
      // A letter may stand alone in its row; Shift makes it the capital (X11 protocol, section 5).
      this.#add(shifted === 0 ? capital(plain) : shifted, { keycode, shift: true });
    }
  }

  /** Throws NO_KEY for a character that no key brings out. */
  character(character: string): Stroke {
    return this.#find(keysymOf(character), JSON.stringify(character));
  }

  /** A key by its name (`Return`, `Ctrl`, `F4`) or its character. Throws NO_KEY. */
  key(name: string): Stroke {
    return this.#find(NAMED[name] ?? keysymOf(name), name);
  }

  #add(keysym: number, stroke: Stroke): void {
    if (keysym !== 0 && !this.#strokes.has(keysym)) this.#strokes.set(keysym, stroke);
  }

  #find(keysym: number, what: string): Stroke {
    const stroke = this.#strokes.get(keysym);
    if (stroke !== undefined) return stroke;
    throw new ReadinessError("NO_KEY", `no key of the session's keyboard brings out ${what}`, {
      hint: "type characters of the session's layout only, or set another layout in it (setxkbmap)",
    });
  }
}

function keysymOf(character: string): number {
  if (character === "\n" || character === "\r") return 0xff0d;
  if (character === "\t") return 0xff09;
  const code = character.codePointAt(0) ?? 0;
  if ([...character].length !== 1 || code < 0x20) return 0;
  return code < 0x100 ? code : UNICODE_KEYSYM + code;
}

function capital(keysym: number): number {
  const isLatinLetter = keysym >= 0x61 && keysym <= 0x7a;
  return isLatinLetter ? keysym - 0x20 : 0;
}
