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
  for (const name of namesOf(limits)) formatted(name, limits);
  return reportOf(group, limits, ({ file, name }) =>
    group.hierarchy.files.write(file, formatted(name, limits)),
  );
}

/**
 * Reads limits back without setting them: whether those that were set are in force still, as the kernel states them.
 *
 * @throws CgroupError `REFUSED` where a control file cannot be read
 */
export async function verifyLimits(group: Group, limits: Limits): Promise<LimitReport> {
  return reportOf(group, limits, () => {});
}

type Target = Pick<LimitResult, "name" | "file" | "asked">;

function reportOf(group: Group, limits: Limits, write: (target: Target) => void): LimitReport {
  const offered = words(group.hierarchy.files.read(join(group.path, "cgroup.controllers")));
  const results = namesOf(limits).map((name) => {
    const asked = limits[name] as Bound | CpuMax;
    return resultOf(group, { name, file: join(group.path, LIMITS[name].file), asked }, { offered, write });
  });
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

function resultOf(
  group: Group,
  target: Target,
  { offered, write }: { readonly offered: readonly string[]; readonly write: (target: Target) => void },
): LimitResult {
  const limit = limitOf(target.name);
  if (!offered.includes(limit.controller))
    return { ...target, enforced: false, reason: missingReason(group, limit.controller) };
  let text: string;
  try {
    write(target);
    text = group.hierarchy.files.read(target.file);
  } catch (error) {
    // The controller is there but not this file: swap accounting may be off, the kernel may be older.
    if (error instanceof CgroupError && error.errno === "ENOENT")
      return { ...target, enforced: false, reason: `this kernel has no ${limit.file}` };
    throw error;
  }
  const readBack = limit.parse(text);
  if (limit.holds(target.asked, readBack)) return { ...target, enforced: true, readBack };
  const reason = `${limit.file} reads ${JSON.stringify(readBack)}, asked for ${JSON.stringify(target.asked)}`;
  return { ...target, enforced: false, readBack, reason };
}

function missingReason(group: Group, controller: string): string {
  const missing = whyUnavailable(group.hierarchy, controller);
  return missing?.reason ?? `the ${controller} controller is not enabled above ${group.path}`;
}
