/**
 * Readers of /proc, as `@drums/nsexec/proc`: no native code is loaded.
 * @packageDocumentation
 */
export { type CgroupMembership, parseCgroup, readCgroup } from "./cgroup.js";
export { parseLimits, type ResourceLimit, readLimits } from "./limits.js";
export { type ProcessLink, parseProcessLink, readProcessLink } from "./links.js";
export { type MountInfo, parseMountinfo, readMountinfo, unescapeOctal } from "./mountinfo.js";
export * from "./namespaces.js";
export { listPidNamespace, listProcesses, type ProcessSummary, parseCmdline } from "./processes.js";
export { isGone, type Pid, type ProcOptions } from "./read.js";
export { type ProcessStat, parseStat, readStartTime, readStat } from "./stat.js";
export { type IdSet, type ProcessStatus, parseStatus, readStatus } from "./status.js";
