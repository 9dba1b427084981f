import { NsexecError, SyscallError } from "./errors.js";
import { explainUserNamespaces } from "./explain/index.js";
import { natEndsByItself } from "./network/constants.js";
import { type PreflightSystem, realSystem } from "./preflight-system.js";
import type { NamespaceKind } from "./proc/namespaces.js";

/** One finding; a gap or a blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  /** A gap takes something away, commonly the hardened profile; with a blocker no session can start. */
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

/** Options of {@link preflight}. */
export interface PreflightOptions {
  /** Default: this machine. */
  readonly system?: PreflightSystem;
}

/**
 * What this machine can do of what this package needs: root, kernel, system calls, namespaces,
 * overlay, seccomp, and the package's own two binaries. Each thing that can be tried is tried.
 */
export async function preflight(options: PreflightOptions = {}): Promise<PreflightItem[]> {
  const { system = realSystem } = options;
  const addon = attempt("native addon", "loads", () => system.loadAddon());
  const items = [checkRoot(system), checkKernel(system), addon, checkInit(system)];
  // Without the addon none of the calls can be tried.
  if (addon.status === "ok") items.push(...(await checkCalls(system)));
  return [...items, checkOverlay(system), checkSeccomp(system), checkNat(system)];
}

const CAP_SYS_ADMIN = 1n << 21n;

function checkRoot(system: PreflightSystem): PreflightItem {
  const name = "root";
  if (system.uid() !== 0) return blocker(name, `runs as uid ${system.uid()}`, "Run as root (sudo).");
  if ((system.capabilities() & CAP_SYS_ADMIN) === 0n)
    return blocker(
      name,
      "root without CAP_SYS_ADMIN",
      "Give the container CAP_SYS_ADMIN (docker: --privileged).",
    );
  return ok(name, "root with CAP_SYS_ADMIN");
}

/** mount_setattr(2) and CLOSE_RANGE_CLOEXEC are of 5.12 and 5.11. */
const NEEDED = [5, 12] as const;
/** overlayfs takes id-mapped layers since 5.19. */
const HARDENED = [5, 19] as const;

function checkKernel(system: PreflightSystem): PreflightItem {
  const release = system.release();
  const [major = 0, minor = 0] = release.split(/[.-]/).map(Number);
  const below = ([a, b]: readonly [number, number]) => major < a || (major === a && minor < b);
  if (below(NEEDED))
    return blocker("kernel", `Linux ${release}`, "Boot Linux 5.19 or later; 5.12 is the least.");
  if (below(HARDENED))
    return gap(
      "kernel",
      `Linux ${release}: overlay takes no id-mapped layers`,
      "Boot 5.19 or later, or use compat.",
    );
  return ok("kernel", `Linux ${release}`);
}

function checkInit(system: PreflightSystem): PreflightItem {
  return attempt("drums-init", "built", () => void system.initBinary());
}

const SESSION_NAMESPACES: readonly NamespaceKind[] = ["mnt", "pid", "uts", "ipc", "net", "cgroup"];

async function checkCalls(system: PreflightSystem): Promise<PreflightItem[]> {
  const clone3 = await tryNamespaces(system, "clone3", []);
  const calls = [
    attempt("openat2", "answers", () => system.tryOpenat2()),
    attempt("pidfd", "answers", () => system.tryPidfd()),
    clone3,
  ];
  if (clone3.status !== "ok") return calls;
  const namespaces = await tryNamespaces(system, "namespaces", SESSION_NAMESPACES);
  return [...calls, namespaces, await checkUserNamespace(system)];
}

async function tryNamespaces(
  system: PreflightSystem,
  name: string,
  namespaces: readonly NamespaceKind[],
): Promise<PreflightItem> {
  const what = namespaces.length === 0 ? "starts a process" : `new ${namespaces.join(", ")}`;
  try {
    await system.tryClone(PROGRAM, namespaces);
    return ok(name, what);
  } catch (error) {
    // The clone came first: a program that is not there shows that it worked.
    if (error instanceof SyscallError && error.syscall === "execve") return ok(name, what);
    return blockerFor(name, error, "Run as root, outside a container that forbids namespaces.");
  }
}

const PROGRAM = "/bin/true";

async function checkUserNamespace(system: PreflightSystem): Promise<PreflightItem> {
  const tried = await tryNamespaces(system, "user namespace", ["user", ...SESSION_NAMESPACES]);
  if (tried.status === "ok") return tried;
  const { hint } = explainUserNamespaces("EPERM", system);
  return gap(
    "user namespace",
    `${tried.detail}; the hardened profile needs it`,
    `${hint}. Or use the compat profile.`,
  );
}

function checkOverlay(system: PreflightSystem): PreflightItem {
  const name = "overlay";
  if (/\toverlay$/m.test(system.readText("/proc/filesystems") ?? "")) return ok(name, "in /proc/filesystems");
  // mount(2) loads the module of a filesystem by itself.
  const modules = system.readText(`/lib/modules/${system.release()}/modules.dep`) ?? "";
  if (/\/overlay\.ko/.test(modules)) return ok(name, "a module that loads when it is first mounted");
  return blocker(
    name,
    "neither in /proc/filesystems nor among the modules",
    "modprobe overlay, or another kernel.",
  );
}

function checkSeccomp(system: PreflightSystem): PreflightItem {
  const actions = system.readText("/proc/sys/kernel/seccomp/actions_avail")?.trim().split(" ") ?? [];
  if (actions.includes("errno")) return ok("seccomp", "filters can answer with an errno");
  return gap(
    "seccomp",
    "no filters",
    "Boot a kernel with CONFIG_SECCOMP_FILTER; sessions run without a filter.",
  );
}

function checkNat(system: PreflightSystem): PreflightItem {
  const name = "slirp4netns";
  const program = system.findProgram(name);
  if (program === undefined)
    return gap(name, "not on PATH: no session can have a network (--net nat)", "apt-get install slirp4netns");
  if (!system.exists("/dev/net/tun"))
    return gap(name, "/dev/net/tun is missing", "modprobe tun; in a container, pass /dev/net/tun in.");
  if (natEndsByItself(system.release())) return ok(name, program);
  return ok(name, `${program}; on Linux before 6.9 it ends when its session is removed, not when that dies`);
}

function attempt(name: string, detail: string, tried: () => void): PreflightItem {
  try {
    tried();
    return ok(name, detail);
  } catch (error) {
    return blockerFor(name, error, "See the message.");
  }
}

function blockerFor(name: string, error: unknown, remedy: string): PreflightItem {
  const hint = error instanceof NsexecError ? error.hint : undefined;
  return blocker(name, error instanceof Error ? error.message : String(error), hint ?? remedy);
}

const ok = (name: string, detail: string): PreflightItem => ({ name, status: "ok", detail });
const gap = (name: string, detail: string, remedy: string): PreflightItem => ({
  name,
  status: "gap",
  detail,
  remedy,
});
const blocker = (name: string, detail: string, remedy: string): PreflightItem => ({
  name,
  status: "blocker",
  detail,
  remedy,
});
