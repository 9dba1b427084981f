import { join } from "node:path";
import { hasOwnPidMax } from "../pid-max.js";
import type { Confinement, IdMap, LaunchPlan, MountStep } from "../plan/schema.js";
import { sessionFilter } from "../seccomp/session.js";
import { SESSION_CAPABILITIES } from "./capabilities.js";
import { deviceSteps, devSteps } from "./dev.js";
import { SESSION_OOM_SCORE_ADJ, SESSION_PID_MAX, sessionLimits } from "./limits.js";
import { maskSteps } from "./masks.js";
import { type RootOptions, rootMounts } from "./root.js";

/** `hardened` has a shifted user namespace; `compat` goes without, and its root is the host's root. */
export type ProfileName = "hardened" | "compat";

/** Sizes of a session's tmpfs mounts as tmpfs takes them ("512m", "25%"). */
export interface TmpSizes {
  /** Default "1g". */
  readonly shm?: string;
  /** Default "256m". */
  readonly run?: string;
  /** Default "1g". */
  readonly tmp?: string;
}

/** What {@link buildSessionPlan} takes. */
export interface SessionPlanOptions extends RootOptions {
  readonly profile: ProfileName;
  readonly hostname: string;
  readonly tmpSizes?: TmpSizes;
  /** Programs may gain rights by setuid files: sudo and su then work inside. Default false. */
  readonly sudo?: boolean;
  /** Default: {@link sessionLimits}. */
  readonly limits?: LaunchPlan["limits"];
  /** The most threads at once. Default {@link SESSION_PID_MAX} where the kernel has a limit for each pid namespace (6.14), else none. */
  readonly pidMax?: number;
}

/** A mount whose content is the host's: CRIU is told to leave it out of a dump and to bind it at a restore. */
export interface External {
  /** In the session. */
  readonly mountPoint: string;
  /** The name under which a checkpoint knows it. */
  readonly key: string;
  /** Where the host's mount stands, in the mount namespace that {@link rootMounts} made. */
  readonly hostPath: string;
}

/** A session's plan and the mounts that a dump of it must be told of. */
export interface SessionPlan {
  readonly plan: LaunchPlan;
  readonly externals: readonly External[];
}

/**
 * The plan of a desktop session: an overlay of the lowers, in its own namespaces, with everything mounted
 * that a desktop needs and nothing of the host. See the README for what each profile holds off.
 */
export function buildSessionPlan(options: SessionPlanOptions): SessionPlan {
  const { hostname, tmpSizes = {}, limits = sessionLimits() } = options;
  const pidMax = options.pidMax ?? (hasOwnPidMax() ? SESSION_PID_MAX : undefined);
  const { hostMounts, root, idMap, externals } = buildRootMounts(options);
  const plan: LaunchPlan = {
    namespaces: ["mnt", "pid", "uts", "ipc", "net", "cgroup", ...(idMap ? (["user"] as const) : [])],
    hostMounts,
    root,
    insideMounts: [
      ...kernelMounts(),
      ...devSteps(externals[0]?.hostPath),
      ...tmpfsSteps(tmpSizes),
      ...hostFiles(hostname),
      // In compat too: root there is the host's, and may write core_pattern without any capability.
      ...maskSteps(),
    ],
    hostname,
    lo: true,
    ...(idMap ? { idMap } : {}),
    limits,
    oomScoreAdj: SESSION_OOM_SCORE_ADJ,
    ...(pidMax === undefined ? {} : { pidMax }),
    ...buildConfinement(options),
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
  };
  return { plan, externals };
}

/** What everything in a session of this kind goes without: the session itself, and what is entered into it. */
export function buildConfinement(options: { readonly sudo?: boolean }): Confinement {
  return {
    capabilities: [...SESSION_CAPABILITIES],
    seccomp: sessionFilter(),
    noNewPrivs: !(options.sudo ?? false),
  };
}

/** The mounts under which a session's root stands, for a launch and again for a restore. */
export interface RootMounts {
  readonly hostMounts: MountStep[];
  /** The merged root, for CRIU's `--root` too. */
  readonly root: string;
  readonly idMap?: IdMap;
  readonly externals: readonly External[];
}

/**
 * The host mounts of a session's root: at launch carried out by its plan, at a restore by runInMounts
 * with a sibling's own upper. Both must be built alike, so both come from here.
 */
export function buildRootMounts(options: RootOptions & { readonly profile: ProfileName }): RootMounts {
  const { profile, scratch } = options;
  if (profile === "compat") return { ...rootMounts(options), externals: [] };
  const idMap = { base: options.idBase ?? 0x4000_0000, size: 65_536 };
  const hostPath = join(scratch, "dev");
  const { hostMounts, root } = rootMounts(options, idMap);
  return {
    hostMounts: [...hostMounts, ...deviceSteps(hostPath, idMap.base)],
    root,
    idMap,
    externals: [{ mountPoint: "/dev", key: "dev", hostPath }],
  };
}

function kernelMounts(): MountStep[] {
  return [
    folder("/proc"),
    mount("proc", "/proc", ["nosuid", "nodev", "noexec"]),
    folder("/sys"),
    mount("sysfs", "/sys", ["ro", "nosuid", "nodev", "noexec"]),
  ];
}

/** Files, too, take memory: the kernel's default is one for two pages of the machine. */
const TMPFS_FILES = "nr_inodes=100k";

function tmpfsSteps({ shm = "1g", run = "256m", tmp = "1g" }: TmpSizes): MountStep[] {
  return [
    mount("tmpfs", "/dev/shm", ["nosuid", "nodev"], `mode=1777,size=${shm},${TMPFS_FILES}`),
    mount("mqueue", "/dev/mqueue", ["nosuid", "nodev", "noexec"]),
    folder("/run"),
    mount("tmpfs", "/run", ["nosuid", "nodev"], `mode=755,size=${run},${TMPFS_FILES}`),
    folder("/tmp"),
    mount("tmpfs", "/tmp", ["nosuid", "nodev"], `mode=1777,size=${tmp},${TMPFS_FILES}`),
    folder("/run/lock", { mode: 0o1777 }),
    folder("/run/user"),
    folder("/run/user/1000", { mode: 0o700, uid: 1000, gid: 1000 }),
    folder("/tmp/.X11-unix", { mode: 0o1777 }),
    folder("/tmp/.ICE-unix", { mode: 0o1777 }),
  ];
}

/** The host's name must resolve, or sudo complains at every call. */
function hostFiles(hostname: string): MountStep[] {
  const hosts = `127.0.0.1\tlocalhost\n127.0.1.1\t${hostname}\n::1\tlocalhost ip6-localhost ip6-loopback\n`;
  return [
    folder("/etc"),
    { kind: "file", path: "/etc/hostname", content: `${hostname}\n` },
    { kind: "file", path: "/etc/hosts", content: hosts },
  ];
}

type FolderStep = Extract<MountStep, { kind: "folder" }>;
type FileSystemStep = Extract<MountStep, { kind: "mount" }>;

function folder(path: string, owner: Partial<Pick<FolderStep, "mode" | "uid" | "gid">> = {}): MountStep {
  return { kind: "folder", path, ...owner };
}

function mount(fsType: string, target: string, options: FileSystemStep["options"], data = ""): MountStep {
  return { kind: "mount", fsType, source: fsType, target, options, data };
}
