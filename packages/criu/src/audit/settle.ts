import { setTimeout as sleep } from "node:timers/promises";
import { type Audit, type AuditOptions, auditSession } from "./audit.js";
import type { RuleId } from "./rules.js";

/**
 * What a moment may cure: a connection of the host's that was just closed stands open in the session until its
 * program has seen the end, and a process that is being forked or is ending may look like a stranger.
 */
const PASSING: ReadonlySet<RuleId> = new Set([
  "socket-foreign",
  "socket-outside-holder",
  "socket-unaccepted",
  "netlink-queued",
  "tcp-unaccepted",
  "task-leader-outside",
  "task-outside-tree",
  "task-uninterruptible",
]);

/** Options of {@link auditSettled}. */
export interface SettleOptions extends AuditOptions {
  /** How long passing refusals are waited for. Default 1000 ms. */
  readonly settleMs?: number;
}

/** An audit, and how often it was made. */
export interface SettledAudit extends Audit {
  readonly looks: number;
}

/**
 * Audits a session, and again while all that refuses is of a kind that passes by itself. The last audit is returned
 * as it is. @throws {CriuError} as `auditSession` does
 */
export async function auditSettled(options: SettleOptions): Promise<SettledAudit> {
  const { settleMs = 1000, ...rest } = options;
  const deadline = performance.now() + settleMs;
  for (let looks = 1; ; looks++) {
    const audit = await auditSession(rest);
    if (!mayPass(audit) || performance.now() >= deadline) return { ...audit, looks };
    await sleep(10);
  }
}

/** A loss is waited for only where it is of a process or a connection that is on its way. */
function mayPass({ findings }: Audit): boolean {
  const refusing = findings.filter(({ severity }) => severity === "refuses");
  const passing = findings.filter(({ rule }) => PASSING.has(rule));
  return passing.length > 0 && refusing.every(({ rule }) => PASSING.has(rule));
}
