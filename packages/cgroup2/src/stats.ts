import { join } from "node:path";
import { readIfThere } from "./errno.js";
import { parseFlatKeyed } from "./events.js";
import type { CgroupFiles } from "./files.js";

/** One line of a pressure file: shares of time in percent, total in microseconds. */
export interface PressureLine {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalUsec: number;
}

/** Pressure stall information of one resource. */
export interface Pressure {
  readonly some?: PressureLine;
  readonly full?: PressureLine;
}

/** Processor time used, and what cpu.max took of it. */
export interface CpuStats {
  readonly usageUsec: number;
  readonly userUsec: number;
  readonly systemUsec: number;
  /** In how many periods cpu.max stopped the group, and for how long in all. */
  readonly throttledPeriods?: number;
  readonly throttledUsec?: number;
}

/** memory.events: how often each thing happened in the group and below. */
export interface MemoryEvents {
  /** Reclaimed although below its memory.low. */
  readonly low: number;
  /** Throttled for memory.high. */
  readonly high: number;
  /** About to go over memory.max. */
  readonly max: number;
  /** Out of memory: nothing was left to reclaim. */
  readonly oom: number;
  /** Processes that the OOM killer ended, whosever limit it was. */
  readonly oomKill: number;
  /** Times that the whole group was ended for memory.oom.group (Linux 5.17). */
  readonly oomGroupKill?: number;
}

/** What was done on one disk. */
export interface IoStats {
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly reads: number;
  readonly writes: number;
}

/** What a group used. A value whose controller or kernel feature is not there is left out. */
export interface GroupStats {
  readonly cpu?: CpuStats;
  readonly memoryCurrentBytes?: number;
  readonly memoryPeakBytes?: number;
  readonly memorySwapBytes?: number;
  readonly memoryEvents?: MemoryEvents;
  readonly pidsCurrent?: number;
  /** How many forks the group's process limit refused. */
  readonly pidsRefused?: number;
  /** By the disk's `MAJOR:MINOR`. */
  readonly io?: Readonly<Record<string, IoStats>>;
  readonly pressure: { readonly cpu?: Pressure; readonly memory?: Pressure; readonly io?: Pressure };
}

/** Reads a group's statistics. */
export function readStats(files: CgroupFiles, folder: string): GroupStats {
  const read = (name: string) => readIfThere(files, join(folder, name));
  const parsed = <T>(name: string, parse: (text: string) => T): T | undefined => {
    const text = read(name);
    return text === undefined ? undefined : parse(text);
  };
  return {
    ...defined("cpu", parsed("cpu.stat", parseCpuStat)),
    ...defined("memoryCurrentBytes", parsed("memory.current", Number)),
    ...defined("memoryPeakBytes", parsed("memory.peak", Number)),
    ...defined("memorySwapBytes", parsed("memory.swap.current", Number)),
    ...defined("memoryEvents", parsed("memory.events", parseMemoryEvents)),
    ...defined("pidsCurrent", parsed("pids.current", Number)),
    ...defined("pidsRefused", parseFlatKeyed(read("pids.events") ?? "").max),
    ...defined("io", parsed("io.stat", parseIoStat)),
    pressure: {
      ...defined("cpu", parsed("cpu.pressure", parsePressure)),
      ...defined("memory", parsed("memory.pressure", parsePressure)),
      ...defined("io", parsed("io.pressure", parsePressure)),
    },
  };
}

/** Parses cpu.stat; a group without the cpu controller has its first three lines. */
export function parseCpuStat(text: string): CpuStats {
  const stat = parseFlatKeyed(text);
  return {
    usageUsec: stat.usage_usec ?? 0,
    userUsec: stat.user_usec ?? 0,
    systemUsec: stat.system_usec ?? 0,
    ...defined("throttledPeriods", stat.nr_throttled),
    ...defined("throttledUsec", stat.throttled_usec),
  };
}

/** Parses memory.events. */
export function parseMemoryEvents(text: string): MemoryEvents {
  const { low = 0, high = 0, max = 0, oom = 0, oom_kill = 0, oom_group_kill } = parseFlatKeyed(text);
  return { low, high, max, oom, oomKill: oom_kill, ...defined("oomGroupKill", oom_group_kill) };
}

/** Parses io.stat: a line `MAJOR:MINOR rbytes=… wbytes=… rios=… wios=…` for each disk. */
export function parseIoStat(text: string): Record<string, IoStats> {
  const result: Record<string, IoStats> = {};
  for (const [, device, rest] of text.matchAll(/^(\d+:\d+) (.*)$/gm)) {
    const {
      rbytes = 0,
      wbytes = 0,
      rios = 0,
      wios = 0,
    } = parseFlatKeyed((rest ?? "").replaceAll(" ", "\n").replaceAll("=", " "));
    if (device !== undefined)
      result[device] = { readBytes: rbytes, writtenBytes: wbytes, reads: rios, writes: wios };
  }
  return result;
}

/** Parses a pressure file: `some|full avg10=… avg60=… avg300=… total=…` (Documentation/accounting/psi.rst). */
export function parsePressure(text: string): Pressure {
  const result: { some?: PressureLine; full?: PressureLine } = {};
  for (const [, kind, avg10, avg60, avg300, total] of text.matchAll(PRESSURE_LINE))
    result[kind as "some" | "full"] = {
      avg10: Number(avg10),
      avg60: Number(avg60),
      avg300: Number(avg300),
      totalUsec: Number(total),
    };
  return result;
}

const PRESSURE_LINE = /^(some|full) avg10=([\d.]+) avg60=([\d.]+) avg300=([\d.]+) total=(\d+)$/gm;

function defined<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T });
}
