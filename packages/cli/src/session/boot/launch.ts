import { closeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { type Group, verifyMembership } from "@drums/cgroup2";
import { type LaunchPlan, launchSession, type PendingSession } from "@drums/nsexec";
import { parseMountinfo, readNamespaces } from "@drums/nsexec/proc";
import { verifyOverlay } from "@drums/rootfs";
import { DrumsError } from "../../errors.js";
import { monotonicMs } from "../../evidence/clock.js";
import { checkLimits } from "../limits.js";
import { checkHandshake, checkPidMax, refusal } from "./handshake.js";
import { type PlanInput, sessionPlan } from "./plan.js";
import type { BootObserver, Handshake } from "./steps.js";

/** What a launch needs: everything around the session stands. */
export interface LaunchInput extends PlanInput {
  readonly group: Group | undefined;
}

/**
 * Starts the session's init by the two-stage handshake. Stage 1 joins the cgroup, makes the namespaces and mounts, and
 * pivots; stage 2 reports from inside and waits; the host compares that with what it sees itself and only then says go.
 * @throws DrumsError HANDSHAKE_REFUSED with every check that failed; the init is gone by then
 */
export async function launchInit(input: LaunchInput, observe: BootObserver = {}): Promise<Handshake> {
  const { plan, externals } = await sessionPlan(input);
  await observe.planned?.(plan);
  const cgroupFd = input.group?.openFd();
  try {
    const pending = await launchSession(plan, cgroupFd === undefined ? {} : { cgroupFd });
    const reportedMs = monotonicMs();
    await observe.reported?.(pending.report);
    const handshake = await shake(input, plan, pending);
    const refused = refusal(handshake.checks);
    if (refused !== undefined) throw await refuse(input, pending, refused);
    await pending.go();
    const shook = { ...handshake, externals, reportedMs, goMs: monotonicMs() };
    await observe.shook?.(shook);
    return shook;
  } finally {
    if (cgroupFd !== undefined) closeSync(cgroupFd);
  }
}

async function shake(
  { group, folder, spec }: LaunchInput,
  { namespaces: asked, pidMax }: LaunchPlan,
  pending: PendingSession,
): Promise<Omit<Handshake, "goMs" | "reportedMs" | "externals">> {
  const { initPid, startTime, report } = pending;
  const mountinfo = await readFile(`/proc/${initPid}/mountinfo`, "utf8");
  const namespaces = await readNamespaces(initPid);
  const membership = group && (await verifyMembership({ group, pid: initPid, reported: report.cgroup }));
  const overlay = verifyOverlay(parseMountinfo(mountinfo), "/", { upper: folder.upper });
  const facts = { report, outside: { mountinfo, namespaces }, host: await readNamespaces("self"), asked };
  const checks = [
    ...(membership?.checks.map((check) => ({ ...check, name: `cgroup: ${check.name}` })) ?? []),
    ...(await checkLimits(group, spec)),
    ...checkHandshake(facts),
    checkPidMax(pidMax, report.pidMax),
    { name: "overlay options", ok: overlay.ok, detail: overlay.detail },
  ];
  const procs = group?.procs() ?? [];
  return { initPid, startTime, report, mountinfo, namespaces, group, procs, membership, overlay, checks };
}

async function refuse(input: LaunchInput, pending: PendingSession, why: string): Promise<DrumsError> {
  await pending.abort();
  return new DrumsError({
    code: "HANDSHAKE_REFUSED",
    what: `session ${input.folder.id} was refused before anything of its desktop started`,
    why,
    hint: "the session report and the launch plan in its evidence say what was asked for and what was found",
  });
}
