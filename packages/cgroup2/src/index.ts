/**
 * cgroup v2: finds the hierarchy, makes groups of one's own, enables controllers from the root down, sets limits
 * and reads them back, verifies membership from both sides, freezes, kills, waits by events, removes.
 *
 * It never touches a group that it did not make, but for enabling controllers above one when asked to.
 *
 * @packageDocumentation
 */
export {
  type ControllerQuestion,
  type ControllerStatus,
  type ControllerStop,
  controllerStatus,
  type Gap,
  whyUnavailable,
} from "./controllers.js";
export { enableControllers } from "./enable.js";
export { type ErrnoMeaning, explainErrno } from "./errno.js";
export { CgroupError, type CgroupErrorCode, type CgroupErrorFacts } from "./errors.js";
export type { GroupEvents } from "./events.js";
export type { CgroupFiles } from "./files.js";
export { createGroup, type Group, type GroupSpec, openGroup } from "./group.js";
export {
  type Hierarchy,
  type HierarchyMode,
  type HierarchyOptions,
  parseProcCgroup,
  readHierarchy,
} from "./hierarchy.js";
export type { WaitOptions } from "./lifecycle.js";
export type { CpuMax } from "./limits/cpu.js";
export type { IoMax } from "./limits/io.js";
export type { Bound } from "./limits/limit.js";
export { controllersFor, type Limits, type LimitValue } from "./limits/limits.js";
export { type LimitReport, type LimitResult, setLimits, verifyLimits } from "./limits/report.js";
export {
  type Membership,
  type MembershipCheck,
  type MembershipClaim,
  verifyMembership,
} from "./membership.js";
export { type PreflightItem, type PreflightOptions, preflight } from "./preflight.js";
export type {
  CpuStats,
  GroupStats,
  IoStats,
  MemoryEvents,
  Pressure,
  PressureLine,
} from "./stats.js";
export { type WatchOptions, watchStats } from "./watch.js";
