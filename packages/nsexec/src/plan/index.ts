export { describePlan } from "./describe.js";
export { parseLaunchPlan, parseMountSteps } from "./parse.js";
export {
  type Confinement,
  type IdMap,
  type LaunchPlan,
  type LimitName,
  launchPlanSchema,
  type MountFlag,
  type MountStep,
  mountStepSchema,
} from "./schema.js";
