import type { ExplainSystem, Explanation } from "./types.js";

interface Sysctl {
  readonly path: string;
  /** The value that forbids user namespaces. */
  readonly forbids: string;
  readonly set: string;
  readonly reason: string;
}

/** The sysctls that forbid user namespaces, each with the value that does so and what to set. */
const SYSCTLS: readonly Sysctl[] = [
  {
    path: "/proc/sys/user/max_user_namespaces",
    forbids: "0",
    set: "user.max_user_namespaces=15000",
    reason: "USER_NAMESPACES_LIMIT",
  },
  {
    path: "/proc/sys/kernel/unprivileged_userns_clone",
    forbids: "0",
    set: "kernel.unprivileged_userns_clone=1",
    reason: "USER_NAMESPACES_UNPRIVILEGED",
  },
  {
    path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    forbids: "1",
    set: "kernel.apparmor_restrict_unprivileged_userns=0",
    reason: "USER_NAMESPACES_APPARMOR",
  },
];

/**
 * Why a new user namespace is refused, and the exact key. ENOSPC also stands for the limit of an outer
 * namespace, which cannot be read from here; EUSERS for 32 levels (user_namespaces(7)).
 */
export function explainUserNamespaces(errno: string, system: Pick<ExplainSystem, "readText">): Explanation {
  if (errno === "EUSERS")
    return {
      reason: "USER_NAMESPACES_NESTED",
      hint: "User namespaces are nested 32 deep at most: run it further out.",
    };
  const cause = SYSCTLS.find(({ path, forbids }) => system.readText(path)?.trim() === forbids);
  if (cause !== undefined)
    return { reason: cause.reason, hint: `${cause.path} is ${cause.forbids}: sysctl -w ${cause.set}` };
  if (errno === "ENOSPC")
    return {
      reason: "NAMESPACES_LIMIT",
      hint: "A limit on namespaces is reached, here or in an outer user namespace: see /proc/sys/user/max_*_namespaces on the host.",
    };
  return {
    reason: "USER_NAMESPACES_REFUSED",
    hint: "A container or a security module around this process forbids user namespaces: run outside it, or use the compat profile.",
  };
}
