import { readFileSync } from "node:fs";
import { posix } from "node:path";
import type { Group } from "./group.js";
import { parseProcCgroup } from "./hierarchy.js";

/** One check of {@link verifyMembership}. */
export interface MembershipCheck {
  readonly name: "listed" | "outside" | "reported";
  readonly ok: boolean;
  readonly detail: string;
}

/** What {@link verifyMembership} found; `ok` when every check is. */
export interface Membership {
  readonly ok: boolean;
  readonly checks: readonly MembershipCheck[];
}

/** What is to be verified. */
export interface MembershipClaim {
  readonly group: Group;
  /** The process's host pid. */
  readonly pid: number;
  /** The process's own raw /proc/self/cgroup, as it sent it from inside; left out, the check fails. */
  readonly reported: string | undefined;
  /**
   * The root of the process's cgroup namespace, as a path seen from here. By default both `/` and this process's
   * own group are taken: a namespace made by clone has its root where the caller of clone is.
   */
  readonly namespaceRoot?: string;
}

/** A report from inside is an attacker's text; what is quoted of it is short. */
const QUOTED_CHARACTERS = 200;

/**
 * Verifies that a process is in a group, from both sides: it is listed in cgroup.procs, /proc/PID/cgroup says
 * so, and its own report from inside says so. Refusals are results, not errors.
 */
export async function verifyMembership(claim: MembershipClaim): Promise<Membership> {
  const checks = [checkListed(claim), checkOutside(claim), checkReported(claim)];
  return { ok: checks.every(({ ok }) => ok), checks };
}

function checkListed({ group, pid }: MembershipClaim): MembershipCheck {
  const name = "listed";
  try {
    const pids = group.procs();
    const ok = pids.includes(pid);
    return { name, ok, detail: `${group.path}/cgroup.procs ${ok ? "lists" : "does not list"} ${pid}` };
  } catch (error) {
    return { name, ok: false, detail: String(error) };
  }
}

function checkOutside({ group, pid }: MembershipClaim): MembershipCheck {
  const name = "outside";
  const file = posix.join(group.hierarchy.proc, String(pid), "cgroup");
  try {
    const path = parseProcCgroup(readFileSync(file, "utf8"));
    return { name, ok: path === group.relative, detail: says(file, path, group.relative) };
  } catch (error) {
    return { name, ok: false, detail: `cannot read ${file}: ${String(error)}` };
  }
}

function checkReported({ group, reported, namespaceRoot }: MembershipClaim): MembershipCheck {
  const name = "reported";
  if (reported === undefined) return { name, ok: false, detail: "the process sent no report" };
  const path = parseProcCgroup(reported);
  if (path === undefined) return { name, ok: false, detail: `no 0::/ line in the report ${quote(reported)}` };
  const roots = namespaceRoot === undefined ? ["/", group.hierarchy.ownPath] : [namespaceRoot];
  const ok = roots.some((root) => seenFrom(root, path) === group.relative);
  return { name, ok, detail: says("the process", path, group.relative) };
}

/** A path in a cgroup namespace may climb with `..` above the namespace's root (cgroup_namespaces(7)). */
function seenFrom(root: string, path: string): string {
  return root === "/" ? path : posix.resolve(root, `.${path}`);
}

function says(who: string, path: string | undefined, expected: string): string {
  if (path === expected) return `${who} says ${expected}`;
  return `${who} says ${path === undefined ? "no cgroup2 path" : quote(path)}; expected ${expected}`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, QUOTED_CHARACTERS));
}
