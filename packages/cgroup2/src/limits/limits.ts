import { type CpuMax, cpuMax, cpuWeight } from "./cpu.js";
import { cpusetCpus, cpusetMems } from "./cpuset.js";
import { hugetlbMax } from "./hugetlb.js";
import { type IoMax, ioMax } from "./io.js";
import type { Bound, Limit } from "./limit.js";
import { memoryHigh, memoryMax, memoryOomGroup, memorySwapMax } from "./memory.js";
import { miscMax } from "./misc.js";
import { pidsMax } from "./pids.js";

/** Limits of a group; what is left out is not touched. */
export interface Limits {
  readonly memoryMaxBytes?: Bound;
  readonly memoryHighBytes?: Bound;
  readonly memorySwapMaxBytes?: Bound;
  /** Whether the OOM killer takes the whole group rather than one process of it. */
  readonly memoryOomGroup?: boolean;
  /** Processes and threads. */
  readonly pidsMax?: Bound;
  readonly cpuMax?: CpuMax;
  /** The share under contention: 1 to 10000, 100 by default. */
  readonly cpuWeight?: Bound;
  /** The numbers of the processors that may be used. */
  readonly cpusetCpus?: readonly number[];
  /** The numbers of the memory nodes that may be used. */
  readonly cpusetMems?: readonly number[];
  /** By the whole disk's `MAJOR:MINOR`. */
  readonly ioMax?: Readonly<Record<string, IoMax>>;
  /** By the pages' size as the kernel writes it, such as `2MB`. */
  readonly hugetlbMaxBytes?: Readonly<Record<string, Bound>>;
  /** Counts, by the resource's name in misc.capacity, such as `sev`. */
  readonly miscMax?: Readonly<Record<string, Bound>>;
}

/** The value of one limit: of one control file, or of one key in it. */
export type LimitValue = Bound | boolean | CpuMax | IoMax | readonly number[];

/** One limit of {@link Limits} that was asked for. */
export interface Setting {
  readonly name: keyof Limits;
  /** The disk, size or resource, of a limit that has one for each. */
  readonly key?: string;
  readonly limit: Limit<LimitValue>;
  readonly asked: LimitValue;
}

type Keyed = "ioMax" | "hugetlbMaxBytes" | "miscMax";
type Plain = Exclude<keyof Limits, Keyed>;

const PLAIN: { readonly [K in Plain]: Limit<NonNullable<Limits[K]>> } = {
  memoryMaxBytes: memoryMax,
  memoryHighBytes: memoryHigh,
  memorySwapMaxBytes: memorySwapMax,
  memoryOomGroup,
  pidsMax,
  cpuMax,
  cpuWeight,
  cpusetCpus,
  cpusetMems,
};

const KEYED: { readonly [K in Keyed]: (key: string) => Limit<NonNullable<Limits[K]>[string]> } = {
  ioMax,
  hugetlbMaxBytes: hugetlbMax,
  miscMax,
};

/**
 * Each limit that was asked for, with the way to write and read it.
 *
 * @throws CgroupError `BAD_LIMIT` for a key that names no disk, size or resource
 */
export function settingsOf(limits: Limits): Setting[] {
  // The one place where the name and the type of its value meet without the compiler's help.
  const plain = (Object.keys(PLAIN) as Plain[]).flatMap((name) => {
    const asked = limits[name];
    return asked === undefined ? [] : [{ name, asked, limit: PLAIN[name] as Limit<LimitValue> }];
  });
  const keyed = (Object.keys(KEYED) as Keyed[]).flatMap((name) =>
    Object.entries(limits[name] ?? {}).map(([key, asked]) => ({
      name,
      key,
      asked,
      limit: KEYED[name](key) as Limit<LimitValue>,
    })),
  );
  return [...plain, ...keyed];
}

/** The controllers that limits need, for {@link enableControllers}. @throws CgroupError `BAD_LIMIT` */
export function controllersFor(limits: Limits): string[] {
  return [...new Set(settingsOf(limits).map(({ limit }) => limit.controller))];
}
