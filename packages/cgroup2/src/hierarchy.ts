import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CgroupError } from "./errors.js";
import { type CgroupFiles, realFiles } from "./files.js";

/** How cgroups are mounted: `hybrid` is cgroup2 beside v1 hierarchies that hold controllers. */
export type HierarchyMode = "v2" | "hybrid" | "v1" | "none";

/** The machine's cgroup hierarchy as this process sees it. */
export interface Hierarchy {
  readonly mode: HierarchyMode;
  /** Where cgroup2 is mounted; undefined where it is not. */
  readonly mountPoint?: string;
  /** The group that the mount shows as its root, seen from this process's cgroup namespace; mostly `/`. */
  readonly mountRoot: string;
  /** Whether the mount is read-write (which says nothing of file permissions). */
  readonly writable: boolean;
  /** The controllers that the mount's root offers. */
  readonly controllers: readonly string[];
  /** Controllers held by a v1 hierarchy, with its mount point; cgroup2 cannot use them. */
  readonly heldByV1: Readonly<Record<string, string>>;
  /** This process's own group in cgroup2, as /proc/self/cgroup says it. */
  readonly ownPath: string;
  /** The folder of procfs. */
  readonly proc: string;
  readonly files: CgroupFiles;
}

/** Options of {@link readHierarchy}. */
export interface HierarchyOptions {
  /** Where cgroups are mounted; default `/sys/fs/cgroup`. A cgroup2 mount at it or below it is taken. */
  readonly root?: string;
  /** The folder of procfs; default `/proc`. */
  readonly proc?: string;
  /** System effects; default the real cgroupfs. */
  readonly files?: CgroupFiles;
}

/** One cgroup mount of a mountinfo text. */
interface CgroupMount {
  readonly version: 1 | 2;
  readonly root: string;
  readonly mountPoint: string;
  readonly writable: boolean;
  /** Names of a v1 mount's controllers (`name=…` hierarchies have none). */
  readonly controllers: readonly string[];
}

/**
 * Reads how cgroups are mounted on this machine. A machine without cgroup2 is an answer (`mode`), no error.
 *
 * @throws CgroupError `NO_HIERARCHY` where procfs cannot be read, `REFUSED` where cgroup.controllers cannot
 */
export async function readHierarchy(options: HierarchyOptions = {}): Promise<Hierarchy> {
  const { root = "/sys/fs/cgroup", proc = "/proc", files = realFiles } = options;
  const mounts = parseCgroupMounts(readProc(join(proc, "self/mountinfo")));
  const own = parseProcCgroup(readProc(join(proc, "self/cgroup")));
  // The last one mounted on a path is the one that is seen there.
  const unified = mounts.filter((mount) => mount.version === 2 && isWithin(root, mount.mountPoint)).at(-1);
  const heldByV1: Record<string, string> = {};
  for (const mount of mounts.filter(({ version }) => version === 1))
    for (const controller of mount.controllers) heldByV1[controller] = mount.mountPoint;
  const anyV1 = mounts.some(({ version }) => version === 1);
  const base = { heldByV1, ownPath: own ?? "/", proc, files };
  if (unified === undefined)
    return { ...base, mode: anyV1 ? "v1" : "none", mountRoot: "/", writable: false, controllers: [] };
  return {
    ...base,
    mode: anyV1 ? "hybrid" : "v2",
    mountPoint: unified.mountPoint,
    mountRoot: unified.root,
    writable: unified.writable,
    controllers: words(files.read(join(unified.mountPoint, "cgroup.controllers"))),
  };
}

/**
 * The cgroup2 path of a /proc/PID/cgroup text: the line `0::PATH` (cgroups(7)). Undefined where there is none.
 */
export function parseProcCgroup(text: string): string | undefined {
  const line = text.split("\n").find((candidate) => candidate.startsWith("0::/"));
  // "(deleted)" follows the path of a removed group; the path alone would name a group that may be new.
  return line?.slice(3);
}

/** The cgroup mounts of a mountinfo text (proc_pid_mountinfo(5)), in its order. */
export function parseCgroupMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [before, after] = line.split(" - ");
    const [, , , root, mountPoint, mountOptions] = before?.split(" ") ?? [];
    const [type, , superOptions] = after?.split(" ") ?? [];
    if (root === undefined || mountPoint === undefined || (type !== "cgroup" && type !== "cgroup2"))
      return [];
    const all = (superOptions ?? "").split(",");
    return [
      {
        version: type === "cgroup2" ? 2 : 1,
        root: unescapeOctal(root),
        mountPoint: unescapeOctal(mountPoint),
        writable: (mountOptions ?? "").split(",").includes("rw") && all.includes("rw"),
        controllers: type === "cgroup2" ? [] : all.filter((option) => CONTROLLER_NAME.test(option)),
      },
    ];
  });
}

/** A v1 mount's super options name its controllers beside these, which are no controllers. */
const CONTROLLER_NAME =
  /^(?!(?:rw|ro|none|noprefix|clone_children|xattr|cpuset_v2_mode|favordynmods)$)[a-z_]+$/;

/** Space-separated words of a control file. */
export function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}

function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

function readProc(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new CgroupError("NO_HIERARCHY", `cannot read ${file}: ${String(cause)}`, {
      hint: "mount procfs, or give its folder as `proc`",
      path: file,
      cause,
    });
  }
}
