import { join } from "node:path";
import { CgroupError } from "./errors.js";
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

/** What a group used. A value whose controller or kernel feature is not there is left out. */
export interface GroupStats {
  readonly cpu?: { readonly usageUsec: number; readonly userUsec: number; readonly systemUsec: number };
  readonly memoryCurrentBytes?: number;
  readonly memoryPeakBytes?: number;
  /** How many processes the kernel killed for the group's memory limit. */
  readonly oomKills?: number;
  readonly pidsCurrent?: number;
  /** How many forks the group's process limit refused. */
  readonly pidsRefused?: number;
  readonly pressure: { readonly cpu?: Pressure; readonly memory?: Pressure; readonly io?: Pressure };
}

/** Reads a group's statistics. */
export function readStats(files: CgroupFiles, folder: string): GroupStats {
  const read = (name: string) => readIfThere(files, join(folder, name));
  const cpu = parseFlatKeyed(read("cpu.stat") ?? "");
  return {
    ...defined("cpu", "usage_usec" in cpu ? cpuTimes(cpu) : undefined),
    ...defined("memoryCurrentBytes", number(read("memory.current"))),
    ...defined("memoryPeakBytes", number(read("memory.peak"))),
    ...defined("oomKills", parseFlatKeyed(read("memory.events") ?? "").oom_kill),
    ...defined("pidsCurrent", number(read("pids.current"))),
    ...defined("pidsRefused", parseFlatKeyed(read("pids.events") ?? "").max),
    pressure: {
      ...defined("cpu", pressure(read("cpu.pressure"))),
      ...defined("memory", pressure(read("memory.pressure"))),
      ...defined("io", pressure(read("io.pressure"))),
    },
  };
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

function cpuTimes(stat: Record<string, number>) {
  return {
    usageUsec: stat.usage_usec ?? 0,
    userUsec: stat.user_usec ?? 0,
    systemUsec: stat.system_usec ?? 0,
  };
}

function pressure(text: string | undefined): Pressure | undefined {
  return text === undefined ? undefined : parsePressure(text);
}

function number(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(text);
}

function defined<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T });
}

/** ENOENT: no such controller here; EOPNOTSUPP: pressure is switched off (psi=0, cgroup.pressure). */
function readIfThere(files: CgroupFiles, file: string): string | undefined {
  try {
    return files.read(file);
  } catch (error) {
    if (error instanceof CgroupError && ["ENOENT", "EOPNOTSUPP", "ENODEV"].includes(error.errno ?? ""))
      return undefined;
    throw error;
  }
}
