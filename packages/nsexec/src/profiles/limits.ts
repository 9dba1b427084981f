import { readFileSync } from "node:fs";
import type { LaunchPlan } from "../plan/schema.js";
import { parseLimits } from "../proc/limits.js";

/** The most threads that a session of a profile has at once. A desktop with an office and a browser has about 500. */
export const SESSION_PID_MAX = 4096;

/** Where memory ends for all, a session's processes end before the host's own. */
export const SESSION_OOM_SCORE_ADJ = 500;

/** Open files of a process: enough for a browser. */
const OPEN_FILES = { soft: 1024, hard: 16_384 } as const;

/**
 * What each process of a session is held to, unless a plan says otherwise. Open files are no more than this process
 * may have itself; there are no core files, which would fill the upper.
 */
export function sessionLimits(): NonNullable<LaunchPlan["limits"]> {
  const own = parseLimits(readFileSync("/proc/self/limits", "utf8")).get("Max open files")?.hard;
  const hard = Math.min(OPEN_FILES.hard, own === undefined ? OPEN_FILES.hard : Number(own));
  return { nofile: { soft: Math.min(OPEN_FILES.soft, hard), hard }, core: { soft: 0, hard: 0 } };
}
