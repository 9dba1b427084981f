import { type Bound, badLimit, formatBound, type Limit, parseBound, valueOfKey } from "./limit.js";

/** How fast a group may use one disk; what is left out is not limited. */
export interface IoMax {
  readonly readBytesPerSecond?: Bound;
  readonly writeBytesPerSecond?: Bound;
  readonly readsPerSecond?: Bound;
  readonly writesPerSecond?: Bound;
}

/** The kernel's keys (cgroup-v2.rst, "io.max"). */
const KEYS = {
  readBytesPerSecond: "rbps",
  writeBytesPerSecond: "wbps",
  readsPerSecond: "riops",
  writesPerSecond: "wiops",
} as const;

const RATES = Object.keys(KEYS) as (keyof IoMax)[];

/** io.max of one whole disk, `MAJOR:MINOR`. */
export function ioMax(device: string): Limit<IoMax> {
  return {
    controller: "io",
    file: "io.max",
    format: (asked) => {
      if (!/^\d+:\d+$/.test(device))
        throw badLimit("io.max", device, "name the disk by its numbers MAJOR:MINOR (lsblk)");
      return [device, ...RATES.map((rate) => `${KEYS[rate]}=${formatRate(asked[rate])}`)].join(" ");
    },
    parse: (text) => parseRates(valueOfKey(text, device) ?? ""),
    holds: (asked, readBack) => RATES.every((rate) => (asked[rate] ?? "max") === readBack[rate]),
  };
}

function formatRate(rate: Bound = "max"): string {
  // The kernel refuses 0: nothing would ever be done.
  if (rate === 0) throw badLimit("io.max", rate, 'give whole numbers from 1, or "max"');
  return formatBound(rate, "io.max");
}

/** A disk without a line has no limit. */
function parseRates(line: string): Required<IoMax> {
  const values = new Map(line.split(" ").map((word) => word.split("=") as [string, string]));
  const rate = (name: keyof IoMax) => parseBound(values.get(KEYS[name]) ?? "max");
  return {
    readBytesPerSecond: rate("readBytesPerSecond"),
    writeBytesPerSecond: rate("writeBytesPerSecond"),
    readsPerSecond: rate("readsPerSecond"),
    writesPerSecond: rate("writesPerSecond"),
  };
}
