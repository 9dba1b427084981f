export { capabilityNames, SESSION_CAPABILITIES } from "./capabilities.js";
export { SESSION_PID_MAX, sessionLimits } from "./limits.js";
export type { Lower, RootOptions } from "./root.js";
export {
  buildConfinement,
  buildRootMounts,
  buildSessionPlan,
  type External,
  type ProfileName,
  type RootMounts,
  type SessionPlan,
  type SessionPlanOptions,
  type TmpSizes,
} from "./session.js";
