import { join } from "node:path";
import { whyDisabled } from "../controllers.js";
import { CgroupError } from "../errors.js";
import type { Group } from "../group.js";
import { words } from "../hierarchy.js";
import { type Limits, type LimitValue, type Setting, settingsOf } from "./limits.js";

/** What became of one limit. */
export interface LimitResult {
  readonly name: keyof Limits;
  /** The disk, size or resource, of a limit that has one for each. */
  readonly key?: string;
  readonly file: string;
  readonly asked: LimitValue;
  /** Whether the kernel states it, its own rounding allowed. */
  readonly enforced: boolean;
  /** What the kernel states; left out where the file is not there. */
  readonly readBack?: LimitValue;
  /** Whether what is in force is the kernel's rounding of what was asked for. */
  readonly rounded?: boolean;
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

/**
 * Sets limits and reads each back. A limit whose controller the group does not have is no error: the report
 * says that it is not in force and why.
 *
 * @throws CgroupError `BAD_LIMIT` before anything is written; `REFUSED` where the kernel refuses a value
 */
export async function setLimits(group: Group, limits: Limits): Promise<LimitReport> {
  const { files } = group.hierarchy;
  for (const { limit, asked } of settingsOf(limits)) limit.format(asked);
  return reportOf(group, limits, ({ limit, asked }) =>
    files.write(join(group.path, limit.file), limit.format(asked)),
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

function reportOf(group: Group, limits: Limits, write: (setting: Setting) => void): LimitReport {
  const offered = words(group.hierarchy.files.read(join(group.path, "cgroup.controllers")));
  const results = settingsOf(limits).map((setting) => ({
    ...describe(group, setting),
    ...(offered.includes(setting.limit.controller)
      ? applied(group, setting, write)
      : { enforced: false, reason: whyDisabled(group, setting.limit.controller) }),
  }));
  const reasons = [...new Set(results.flatMap(({ reason }) => reason ?? []))];
  const report = {
    enforced: results.every(({ enforced }) => enforced),
    readBack: readBackOf(results),
    results,
  };
  return reasons.length === 0 ? report : { ...report, reason: reasons.join("; ") };
}

function describe(group: Group, { name, key, limit, asked }: Setting) {
  return { name, ...(key !== undefined && { key }), file: join(group.path, limit.file), asked };
}

type Outcome = Pick<LimitResult, "enforced" | "readBack" | "rounded" | "reason">;

function applied(group: Group, setting: Setting, write: (setting: Setting) => void): Outcome {
  const { limit, asked } = setting;
  const stated = limit.statedIn ?? limit.file;
  let text: string;
  try {
    write(setting);
    text = group.hierarchy.files.read(join(group.path, stated));
  } catch (error) {
    // The controller is there but not this file: swap accounting may be off, the kernel may be older.
    if (error instanceof CgroupError && error.errno === "ENOENT")
      return { enforced: false, reason: `this kernel has no ${limit.file}` };
    throw error;
  }
  const readBack = limit.parse(text);
  if (limit.holds(asked, readBack))
    return { enforced: true, readBack, rounded: limit.format(asked) !== limit.format(readBack) };
  const reason = `${stated} reads ${JSON.stringify(readBack)}, asked for ${JSON.stringify(asked)}`;
  return { enforced: false, readBack, reason };
}

/** The values read back, in the shape of {@link Limits}. */
function readBackOf(results: readonly LimitResult[]): Limits {
  const limits: Record<string, unknown> = {};
  for (const { name, key, readBack } of results) {
    if (readBack === undefined) continue;
    limits[name] = key === undefined ? readBack : { ...(limits[name] as object), [key]: readBack };
  }
  return limits;
}
