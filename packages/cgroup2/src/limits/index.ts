import { join } from "node:path";
import { whyUnavailable } from "../enable.js";
import { CgroupError } from "../errors.js";
import type { Group } from "../group.js";
import { words } from "../hierarchy.js";
import { type CpuMax, cpuMax, cpuWeight } from "./cpu.js";
import type { Bound, Limit } from "./limit.js";
import { memoryHigh, memoryMax, memorySwapMax } from "./memory.js";
import { pidsMax } from "./pids.js";

/** Limits of a group; what is left out is not touched. */
export interface Limits {
  readonly memoryMaxBytes?: Bound;
  readonly memoryHighBytes?: Bound;
  readonly memorySwapMaxBytes?: Bound;
  readonly pidsMax?: Bound;
  readonly cpuMax?: CpuMax;
  readonly cpuWeight?: Bound;
}

/** What became of one limit. */
export interface LimitResult {
  readonly name: keyof Limits;
  readonly file: string;
  readonly asked: Bound | CpuMax;
  /** Whether the kernel states it, its own rounding allowed. */
  readonly enforced: boolean;
  /** What the kernel states; left out where the file is not there. */
  readonly readBack?: Bound | CpuMax;
  /** Why it is not in force. */
  readonly reason?: string;
}

/** What {@link setLimits} did. */
export interface LimitReport {
  /** Whether every limit asked for is in force. */
  readonly enforced: boolean;
  /** Why not; each reason once. */
  readonly reason?: string;
  /** What the kernel states, by name. */
  readonly readBack: Limits;
  readonly results: readonly LimitResult[];
}

const LIMITS: { readonly [K in keyof Limits]-?: Limit<NonNullable<Limits[K]>> } = {
  memoryMaxBytes: memoryMax,
  memoryHighBytes: memoryHigh,
  memorySwapMaxBytes: memorySwapMax,
  pidsMax,
  cpuMax,
  cpuWeight,
};

/** The controllers that limits need, for {@link enableControllers}. */
export function controllersFor(limits: Limits): string[] {
  const names = namesOf(limits).map((name) => LIMITS[name].controller);
  return [...new Set(names)];
}

/**
 * Sets limits and reads each back. A limit whose controller the group does not have is no error: the report
 * says that it is not in force and why.
 *
 * @throws CgroupError `BAD_LIMIT` before anything is written; `REFUSED` where the kernel refuses a value
 */
export async function setLimits(group: Group, limits: Limits): Promise<LimitReport> {
  const names = namesOf(limits);
  for (const name of names) formatted(name, limits);
  const offered = words(group.hierarchy.files.read(join(group.path, "cgroup.controllers")));
  const results = names.map((name) => setOne(group, name, limits, offered));
  const reasons = [...new Set(results.flatMap(({ reason }) => reason ?? []))];
  const readBack = Object.fromEntries(
    results.flatMap((result) => (result.readBack === undefined ? [] : [[result.name, result.readBack]])),
  );
  const report = { enforced: results.every(({ enforced }) => enforced), readBack, results };
  return reasons.length === 0 ? report : { ...report, reason: reasons.join("; ") };
}

function namesOf(limits: Limits): (keyof Limits)[] {
  return (Object.keys(LIMITS) as (keyof Limits)[]).filter((name) => limits[name] !== undefined);
}

/** The one place where the name and the type of its value meet without the compiler's help. */
function limitOf(name: keyof Limits): Limit<Bound | CpuMax> {
  return LIMITS[name] as Limit<Bound | CpuMax>;
}

function formatted(name: keyof Limits, limits: Limits): string {
  return limitOf(name).format(limits[name] as Bound | CpuMax);
}

function setOne(group: Group, name: keyof Limits, limits: Limits, offered: readonly string[]): LimitResult {
  const limit = limitOf(name);
  const asked = limits[name] as Bound | CpuMax;
  const base = { name, file: join(group.path, limit.file), asked };
  if (!offered.includes(limit.controller))
    return { ...base, enforced: false, reason: missingReason(group, limit.controller) };
  const { files } = group.hierarchy;
  try {
    files.write(base.file, formatted(name, limits));
  } catch (error) {
    // The controller is there but not this file: swap accounting may be off, the kernel may be older.
    if (error instanceof CgroupError && error.errno === "ENOENT")
      return { ...base, enforced: false, reason: `this kernel has no ${limit.file}` };
    throw error;
  }
  const readBack = limit.parse(files.read(base.file));
  if (limit.holds(asked, readBack)) return { ...base, enforced: true, readBack };
  const reason = `${limit.file} reads ${JSON.stringify(readBack)} after ${JSON.stringify(asked)} was written`;
  return { ...base, enforced: false, readBack, reason };
}

function missingReason(group: Group, controller: string): string {
  const missing = whyUnavailable(group.hierarchy, controller);
  return missing?.reason ?? `the ${controller} controller is not enabled above ${group.path}`;
}
