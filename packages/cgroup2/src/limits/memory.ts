import { badLimit, boundLimit, type Limit } from "./limit.js";

/** The largest page of a usual kernel; memory limits are rounded down to pages (mm/page_counter.c). */
const LARGEST_PAGE_BYTES = 65_536;

/** memory.max, bytes: above it the kernel reclaims, then kills inside the group. */
export const memoryMax = boundLimit("memory", "memory.max", { granularity: LARGEST_PAGE_BYTES });

/** memory.high, bytes: above it the group is throttled and reclaimed, not killed. */
export const memoryHigh = boundLimit("memory", "memory.high", { granularity: LARGEST_PAGE_BYTES });

/** memory.swap.max, bytes. */
export const memorySwapMax = boundLimit("memory", "memory.swap.max", { granularity: LARGEST_PAGE_BYTES });

/** memory.oom.group: whether the OOM killer takes the whole group, or one process of it. */
export const memoryOomGroup: Limit<boolean> = {
  controller: "memory",
  file: "memory.oom.group",
  format: (value) => {
    if (typeof value !== "boolean") throw badLimit("memory.oom.group", value, "give true or false");
    return value ? "1" : "0";
  },
  parse: (text) => text.trim() === "1",
  holds: (asked, readBack) => asked === readBack,
};
