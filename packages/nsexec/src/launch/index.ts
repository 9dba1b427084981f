export { type LaunchOptions, launchSession, type PendingSession } from "./launch.js";
export type { StageTwoReport } from "./report.js";
export { type RunInMountsOptions, runInMounts } from "./run-in-mounts.js";
export { type RunSessionOptions, runSession } from "./run-session.js";
