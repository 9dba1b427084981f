import { type MountInfo, type NamespaceId, type NamespaceKind, parseMountinfo } from "@drums/nsexec/proc";

/** One thing the host verified before it wrote `go`. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

type Namespaces = Partial<Record<NamespaceKind, NamespaceId>>;

/** Both sides of the handshake: what stage 2 said from inside the pivoted root, and what the host reads outside. */
export interface HandshakeFacts {
  readonly report: { readonly mountinfo: string; readonly namespaces: Namespaces };
  /** `/proc/PID/mountinfo` and `/proc/PID/ns` of the init, read by the host. */
  readonly outside: { readonly mountinfo: string; readonly namespaces: Namespaces };
  /** The host's own namespaces: the session may share none of those it asked for. */
  readonly host: Namespaces;
  readonly asked: readonly NamespaceKind[];
}

/**
 * The checks between stage 2's report and `go`, without the cgroup's, which `@drums/cgroup2` makes.
 * Each fault of the mount table here is one that an earlier desktop died of or that a dump refuses.
 */
export function checkHandshake(facts: HandshakeFacts): Check[] {
  const mounts = parseMountinfo(facts.outside.mountinfo);
  return [
    ...facts.asked.map((kind) => checkNamespace(kind, facts)),
    check(
      "report matches the host's view",
      facts.report.mountinfo === facts.outside.mountinfo,
      "the mount table as init read it and as the host reads it of init",
    ),
    checkRoot(mounts),
    checkSysfs(mounts),
    checkPropagation(mounts),
  ];
}

/** The greatest pid as init reads it, where one was asked for. */
export function checkPidMax(asked: number | undefined, found: number): Check {
  const detail = asked === undefined ? `${found}, the kernel's own` : `${found}, asked for ${asked}`;
  return check("pid_max", asked === undefined || found === asked, detail);
}

/** The refused checks as one sentence, or undefined where all hold. */
export function refusal(checks: readonly Check[]): string | undefined {
  const failed = checks.filter(({ ok }) => !ok);
  if (failed.length === 0) return undefined;
  return failed.map(({ name, detail }) => `${name}: ${detail}`).join("; ");
}

function checkNamespace(kind: NamespaceKind, { report, outside, host }: HandshakeFacts): Check {
  const [inside, seen, own] = [report.namespaces[kind], outside.namespaces[kind], host[kind]];
  const name = `${kind} namespace`;
  if (!inside || !seen || !own) return check(name, false, "one side could not say which it is");
  if (!same(inside, seen))
    return check(name, false, `init says ${inside.inode}, the host sees ${seen.inode}`);
  return check(name, !same(seen, own), `${seen.inode}, the host's is ${own.inode}`);
}

function checkRoot(mounts: readonly MountInfo[]): Check {
  const root = mounts.filter(({ mountPoint }) => mountPoint === "/").at(-1);
  if (root === undefined) return check("root is an overlay", false, "no mount at /");
  return check("root is an overlay", root.fsType === "overlay", `${root.fsType} from ${root.source}`);
}

/** A fresh read-only sysfs and nothing below it: a recursive bind brings configfs along, and no dump passes. */
function checkSysfs(mounts: readonly MountInfo[]): Check {
  const own = mounts.filter(({ mountPoint }) => mountPoint === "/sys");
  const below = mounts.filter(({ mountPoint, fsType }) => mountPoint.startsWith("/sys/") && !isMask(fsType));
  const fresh = own.length === 1 && own[0]?.fsType === "sysfs" && own[0].root === "/";
  const readOnly = own[0]?.options.includes("ro") === true;
  const detail =
    below.length > 0
      ? `mounted below it: ${below.map(({ mountPoint, fsType }) => `${mountPoint} (${fsType})`).join(", ")}`
      : own.map(({ fsType, options }) => `${fsType} ${options.join(",")}`).join("; ") || "not mounted";
  return check("/sys is fresh, read-only and bare", fresh && readOnly && below.length === 0, detail);
}

function checkPropagation(mounts: readonly MountInfo[]): Check {
  const tied = mounts.filter(({ shared, master }) => shared !== undefined || master !== undefined);
  return check(
    "no mount is tied to the host",
    tied.length === 0,
    tied.length === 0
      ? `${mounts.length} mounts, all private`
      : tied.map(({ mountPoint }) => mountPoint).join(", "),
  );
}

/** The hardened profile covers parts of /sys with empty tmpfs or sysfs binds of its own. */
function isMask(fsType: string): boolean {
  return fsType === "tmpfs" || fsType === "sysfs";
}

function same(a: NamespaceId, b: NamespaceId): boolean {
  return a.device === b.device && a.inode === b.inode;
}

function check(name: string, ok: boolean, detail: string): Check {
  return { name, ok, detail };
}
