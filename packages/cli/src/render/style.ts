/** Where text goes, with what is known of it. `process.stdout` and `process.stderr` fit. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number | undefined;
}

/** Colours that a terminal of any theme shows. */
const CODES = { green: 32, red: 31, yellow: 33, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof CODES;

/** Paints a text, or leaves it as it is. */
export type Paint = (colour: Colour, text: string) => string;

/**
 * How to paint for an output: colours on a terminal alone, none with NO_COLOR set and not empty (no-color.org)
 * or TERM=dumb.
 */
export function paintFor(output: Output, env: NodeJS.ProcessEnv = process.env): Paint {
  const isPlain = output.isTTY !== true || Boolean(env.NO_COLOR) || env.TERM === "dumb";
  return isPlain ? (_colour, text) => text : (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m`;
}

/** Columns to fill: the terminal's own, or 100 where text goes to a file or pipe. At least 40. */
export function widthOf(output: Output): number {
  return Math.max(40, output.columns ?? 100);
}

/** A duration for people: `85 ms`, `1.2 s`, `2 min 05 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** A size for people: `12 B`, `3.4 KiB`, `1.2 GiB`. */
export function bytesText(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const unit = ["B", "KiB", "MiB", "GiB", "TiB"][power] ?? "";
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${unit}`;
}

/** Replaces control characters, which a record may hold and a terminal would obey. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => (character === "\n" ? " " : "\ufffd"));
}

/** Breaks a text into lines of at most `width` characters, between words where it can. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    for (const piece of pieces(word, width)) {
      if (line !== "" && line.length + 1 + piece.length > width) {
        lines.push(line);
        line = piece;
      } else line = line === "" ? piece : `${line} ${piece}`;
    }
  }
  return [...lines, line];
}

function pieces(word: string, width: number): string[] {
  if (word.length <= width) return [word];
  return word.match(new RegExp(`.{1,${width}}`, "gu")) ?? [word];
}
