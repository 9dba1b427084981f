import { CgroupError } from "../errors.js";

/** `max` is the kernel's word for no limit. */
export type Bound = number | "max";

/** How one limit is written to, and read from, its control file. */
export interface Limit<T> {
  readonly controller: string;
  readonly file: string;
  /** The file that states what is in force, where that is another one. */
  readonly statedIn?: string;
  /** The text to write; throws `BAD_LIMIT` for a value that the file cannot hold. */
  format(value: T): string;
  /** The value of the text read back. */
  parse(text: string): T;
  /** Whether what was read back is what was asked for, the kernel's own rounding allowed. */
  holds(asked: T, readBack: T): boolean;
}

/** A limit of one number or `max`, such as pids.max. */
export function boundLimit(
  controller: string,
  file: string,
  options: { readonly granularity?: number } = {},
): Limit<Bound> {
  return {
    controller,
    file,
    format: (value) => formatBound(value, file),
    parse: parseBound,
    holds: (asked, readBack) => isRoundedDown(asked, readBack, options.granularity),
  };
}

/** Whether the kernel's value is the one asked for, rounded down to a multiple of at most `granularity`. */
export function isRoundedDown(asked: Bound, readBack: Bound, granularity = 1): boolean {
  if (asked === "max" || readBack === "max") return asked === readBack;
  return readBack <= asked && asked - readBack < granularity;
}

/** The text of a bound; whole numbers from 0 only. */
export function formatBound(value: Bound, file: string): string {
  if (value === "max" || (Number.isSafeInteger(value) && value >= 0)) return String(value);
  throw badLimit(file, value);
}

/** The bound that a control file states. */
export function parseBound(text: string): Bound {
  const word = text.trim();
  return word === "max" ? "max" : Number(word);
}

/** The value of the line that begins with a key, of a control file with a line for each (`KEY VALUE…`). */
export function valueOfKey(text: string, key: string): string | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith(`${key} `));
  return line?.slice(key.length + 1);
}

/** The refusal of a value that is no limit. */
export function badLimit(
  file: string,
  value: unknown,
  hint = 'give whole numbers from 0, or "max"',
): CgroupError {
  return new CgroupError("BAD_LIMIT", `${file} cannot be ${JSON.stringify(value)}`, { hint, path: file });
}
