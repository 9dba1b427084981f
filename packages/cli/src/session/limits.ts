import {
  controllerStatus,
  controllersFor,
  enableControllers,
  type Group,
  type Limits,
  readHierarchy,
  setLimits,
  verifyLimits,
} from "@drums/cgroup2";
import { z } from "zod";
import { DrumsError, EXIT } from "../errors.js";
import type { Check } from "./boot/handshake.js";

/** What a session's cgroup may use, and each sibling's of its own; what is left out is not limited. */
export const sessionLimitsSchema = z.object({
  /** Resident memory with page cache and tmpfs; its swap is 0 then. */
  memoryMaxBytes: z.number().int().positive().optional(),
  /** Processor time, in processors: 1.5 is one and a half. */
  cpus: z.number().positive().optional(),
  /** Processes and threads. */
  pidsMax: z.number().int().positive().optional(),
});

export type SessionLimits = z.infer<typeof sessionLimitsSchema>;

/** A session's limits, and whether it may live where they cannot be in force. */
export interface LimitRequest {
  readonly limits?: SessionLimits | undefined;
  /** Default false. */
  readonly allowUnlimited?: boolean | undefined;
}

const PERIOD_USEC = 100_000;

/** The group that holds those of sessions. */
export const SESSION_GROUPS = "drums";

/** The limits as control files take them. A group whose memory is bounded and whose swap is not would fill the swap. */
export function groupLimits({ memoryMaxBytes, cpus, pidsMax }: SessionLimits): Limits {
  return {
    ...(memoryMaxBytes !== undefined && { memoryMaxBytes, memorySwapMaxBytes: 0 }),
    ...(cpus !== undefined && {
      cpuMax: { quotaUsec: Math.round(cpus * PERIOD_USEC), periodUsec: PERIOD_USEC },
    }),
    ...(pidsMax !== undefined && { pidsMax }),
  };
}

/**
 * Refuses limits that this machine cannot put in force, before anything of the session is made.
 * @throws DrumsError LIMITS_UNAVAILABLE (exit status 3) with the reason and the remedy for each controller
 */
export async function assertLimitsAvailable({ limits = {}, allowUnlimited }: LimitRequest): Promise<void> {
  const controllers = controllersFor(groupLimits(limits));
  if (controllers.length === 0 || allowUnlimited) return;
  const hierarchy = await readHierarchy();
  const path = [SESSION_GROUPS, "new"];
  const missing = controllers.flatMap(
    (controller) => controllerStatus({ hierarchy, path, controller }).gap ?? [],
  );
  if (missing.length === 0) return;
  const unique = (texts: string[]) => [...new Set(texts)].join("; ");
  throw unavailable(unique(missing.map(({ reason }) => reason)), unique(missing.map(({ remedy }) => remedy)));
}

/** Enables what the limits need above the session's group and sets them. @throws CgroupError as those calls do */
export async function limitGroup(group: Group, { limits = {}, allowUnlimited }: LimitRequest): Promise<void> {
  const wanted = groupLimits(limits);
  const { hierarchy, parts: path } = group;
  const offered = controllersFor(wanted).filter(
    (controller) => !allowUnlimited || controllerStatus({ hierarchy, path, controller }).gap === undefined,
  );
  await enableControllers(group, offered);
  await setLimits(group, wanted);
}

/** Each limit as the kernel states it at this moment. One that is not in force passes only where that was allowed. */
export async function checkLimits(
  group: Group | undefined,
  { limits = {}, allowUnlimited = false }: LimitRequest,
): Promise<Check[]> {
  const wanted = groupLimits(limits);
  if (group === undefined)
    return Object.keys(wanted).map((name) => ({
      name: `limit ${name}`,
      ok: allowUnlimited,
      detail: "not in force: this machine has no cgroup2",
    }));
  const { results } = await verifyLimits(group, wanted);
  return results.map(({ name, enforced, readBack, reason }) => ({
    name: `limit ${name}`,
    ok: enforced || allowUnlimited,
    detail: enforced ? `the kernel states ${JSON.stringify(readBack)}` : `not in force: ${reason}`,
  }));
}

function unavailable(why: string, remedy: string): DrumsError {
  return new DrumsError({
    code: "LIMITS_UNAVAILABLE",
    exitCode: EXIT.blocker,
    what: "the limits that were asked for cannot be in force on this machine",
    why,
    hint: `${remedy}; or --allow-unlimited, to run without those limits`,
  });
}
