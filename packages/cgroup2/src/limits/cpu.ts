import { type Bound, badLimit, boundLimit, formatBound, type Limit, parseBound } from "./limit.js";

/** Processor time: at most `quotaUsec` of it in each `periodUsec`; two full processors are twice the period. */
export interface CpuMax {
  readonly quotaUsec: Bound;
  /** Default 100000, the kernel's own. */
  readonly periodUsec?: number;
}

const DEFAULT_PERIOD_USEC = 100_000;

/** cpu.max. */
export const cpuMax: Limit<CpuMax> = {
  controller: "cpu",
  file: "cpu.max",
  format: ({ quotaUsec, periodUsec = DEFAULT_PERIOD_USEC }) => {
    if (!Number.isSafeInteger(periodUsec) || periodUsec <= 0) throw badLimit("cpu.max", periodUsec);
    return `${formatBound(quotaUsec, "cpu.max")} ${periodUsec}`;
  },
  parse: (text) => {
    const [quota = "", period = ""] = text.trim().split(" ");
    return { quotaUsec: parseBound(quota), periodUsec: Number(period) };
  },
  holds: (asked, readBack) =>
    asked.quotaUsec === readBack.quotaUsec &&
    (asked.periodUsec ?? DEFAULT_PERIOD_USEC) === readBack.periodUsec,
};

/** cpu.weight, 1 to 10000, 100 by default: the share under contention. */
export const cpuWeight = boundLimit("cpu", "cpu.weight");
