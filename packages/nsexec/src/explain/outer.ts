import { parseMountinfo } from "../proc/mountinfo.js";
import { explainPivotRoot } from "./pivot.js";
import type { ExplainSystem, Explanation, StepFailure } from "./types.js";
import { explainUserNamespaces } from "./user-namespaces.js";

const CAP_SYS_ADMIN = 1n << 21n;

/**
 * What of the machine, or of a container around this process, refuses a step: a restricted user namespace, a
 * seccomp filter, a security module, a /proc with parts covered, a chroot.
 */
export function explainOuter(failure: StepFailure, system: ExplainSystem): Explanation | undefined {
  const { step, errno } = failure;
  if (["EPERM", "EACCES"].includes(errno) && !canAdminister(system)) return NO_SYS_ADMIN;
  if ((step === "clone" || step === "id-map") && ["EPERM", "ENOSPC", "EUSERS"].includes(errno))
    return explainUserNamespaces(errno, system);
  if ((step === "private" || step === "pivot" || step === "root") && errno === "EINVAL")
    return explainRoot(system);
  if (errno !== "EPERM" && errno !== "EACCES") return undefined;
  return explainCovered(failure, system) ?? explainSecurity(system);
}

const NO_SYS_ADMIN: Explanation = {
  reason: "NO_SYS_ADMIN",
  hint: "This process has no CAP_SYS_ADMIN: run it as root, outside a container or in one that keeps the capability (docker: --privileged).",
};

function canAdminister(system: ExplainSystem): boolean {
  return (BigInt(`0x${statusField("CapEff", system) ?? "0"}`) & CAP_SYS_ADMIN) !== 0n;
}

function statusField(name: string, system: ExplainSystem): string | undefined {
  return new RegExp(`^${name}:\\s*(\\S+)`, "m").exec(system.readText("/proc/self/status") ?? "")?.[1];
}

function explainRoot(system: ExplainSystem): Explanation | undefined {
  const mounts = system.readText("/proc/self/mountinfo");
  // Of the new root nothing is left to be seen; of the caller's own root this holds.
  return mounts === undefined
    ? undefined
    : explainPivotRoot({ newRoot: "/", mounts: parseMountinfo(mounts) });
}

/**
 * A user namespace may mount a fresh proc or sysfs only where its parent sees all of one (mount_too_revealing
 * in fs/namespace.c).
 */
function explainCovered({ step, path }: StepFailure, system: ExplainSystem): Explanation | undefined {
  if (step !== "mount" || (path !== "/proc" && path !== "/sys")) return undefined;
  const mounts = parseMountinfo(system.readText("/proc/self/mountinfo") ?? "");
  const covers = mounts.filter(({ mountPoint }) => mountPoint.startsWith(`${path}/`));
  if (covers.length === 0) return undefined;
  const named = covers.map(({ mountPoint }) => mountPoint).slice(0, 5);
  return {
    reason: "PROC_COVERED",
    hint: `Parts of ${path} are covered here (${named.join(", ")}), so a new user namespace may not mount its own: run the outer container with an unmasked ${path} (docker: --security-opt systempaths=unconfined), or use the compat profile.`,
  };
}

function explainSecurity(system: ExplainSystem): Explanation | undefined {
  const label = system.readText("/proc/self/attr/current")?.replaceAll("\0", "").trim();
  if (label !== undefined && label !== "" && !label.startsWith("unconfined"))
    return {
      reason: "OUTER_SECURITY_MODULE",
      hint: `A security module confines this process as ${label}: run it unconfined (docker: --security-opt apparmor=unconfined).`,
    };
  if (statusField("Seccomp", system) === "2")
    return {
      reason: "OUTER_SECCOMP",
      hint: "A seccomp filter lies on this process, as containers have it: run the outer container without one (docker: --security-opt seccomp=unconfined).",
    };
  return undefined;
}
