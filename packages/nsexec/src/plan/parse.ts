import { z } from "zod";
import { NsexecError } from "../errors.js";
import { isProc, type LaunchPlan, launchPlanSchema, type MountStep, mountStepSchema } from "./schema.js";

/** Checks a plan from outside (a file, a caller in JavaScript). @throws NsexecError code PLAN_INVALID */
export function parseLaunchPlan(plan: unknown): LaunchPlan {
  const parsed = check(launchPlanSchema, plan, "launch plan");
  if (parsed.namespaces.includes("user") !== (parsed.idMap !== undefined))
    throw invalid("launch plan", "idMap: needed exactly where namespaces holds user");
  if (parsed.timeOffsets && !parsed.namespaces.includes("time"))
    throw invalid("launch plan", "timeOffsets: needs time among the namespaces");
  if (parsed.pidMax !== undefined && !parsed.insideMounts.some(isProc))
    throw invalid("launch plan", "pidMax: needs a proc on /proc among insideMounts");
  if (parsed.program && (parsed.init || parsed.env))
    throw invalid("launch plan", "program: takes the place of init and env");
  return parsed;
}

/** Checks the steps of {@link LaunchPlan.hostMounts} on their own. @throws NsexecError code PLAN_INVALID */
export function parseMountSteps(steps: unknown): MountStep[] {
  return check(z.array(mountStepSchema), steps, "mount steps");
}

function check<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(what, z.prettifyError(result.error));
}

function invalid(what: string, reason: string): NsexecError {
  return new NsexecError("PLAN_INVALID", `the ${what} cannot be carried out: ${reason}`, {
    step: "plan",
    hint: "See launchPlanSchema for what each field takes.",
  });
}
