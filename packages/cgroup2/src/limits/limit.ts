import { CgroupError } from "../errors.js";

/** `max` is the kernel's word for no limit. */
export type Bound = number | "max";

/** How one limit is written to, and read from, its control file. */
export interface Limit<T> {
  readonly controller: string;
  readonly file: string;
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
  const { granularity = 1 } = options;
  return {
    controller,
    file,
    format: (value) => formatBound(value, file),
    parse: parseBound,
    holds: (asked, readBack) =>
      asked === "max" || readBack === "max"
        ? asked === readBack
        : readBack <= asked && asked - readBack < granularity,
  };
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

/** The refusal of a value that is no limit. */
export function badLimit(file: string, value: unknown): CgroupError {
  return new CgroupError("BAD_LIMIT", `${file} cannot be ${JSON.stringify(value)}`, {
    hint: 'give whole numbers from 0, or "max"',
    path: file,
  });
}
