import { type Bound, badLimit, boundLimit, type Limit } from "./limit.js";

const UNIT_BYTES = { KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30 } as const;

/** hugetlb.SIZE.max, bytes, of one size of huge pages as the kernel writes it, such as `2MB`; rounded down to such pages. */
export function hugetlbMax(pageSize: string): Limit<Bound> {
  const [, count, unit] = /^(\d+)(KB|MB|GB)$/.exec(pageSize) ?? [];
  if (count === undefined || unit === undefined)
    throw badLimit(
      "hugetlb",
      pageSize,
      "name the size of the pages as /sys/fs/cgroup does, such as 2MB or 1GB",
    );
  const granularity = Number(count) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES];
  return boundLimit("hugetlb", `hugetlb.${pageSize}.max`, { granularity });
}
