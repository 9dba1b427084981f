import { z } from "zod";
import { NAMESPACE_KINDS } from "../proc/namespaces.js";

/** Flags of mount(2) that a step may name, by their names in mount(8). */
export const MOUNT_FLAGS = {
  ro: 1,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  sync: 16,
  nosymfollow: 256,
  noatime: 1024,
  nodiratime: 2048,
  relatime: 1 << 21,
  strictatime: 1 << 24,
} as const;

/** How mounts spread, with the flag of mount(2). */
export const PROPAGATIONS = {
  unbindable: 1 << 17,
  private: 1 << 18,
  slave: 1 << 19,
  shared: 1 << 20,
} as const;

/** Resources of setrlimit(2) by their number in the kernel's generic table. */
export const LIMITS = {
  cpu: 0,
  fsize: 1,
  data: 2,
  stack: 3,
  core: 4,
  rss: 5,
  nproc: 6,
  nofile: 7,
  memlock: 8,
  as: 9,
  locks: 10,
  sigpending: 11,
  msgqueue: 12,
  nice: 13,
  rtprio: 14,
  rttime: 15,
} as const;

const text = z.string().refine((value) => !value.includes("\0"), "a NUL byte cannot be passed to the kernel");
const absolute = text.refine(
  (value) => value.startsWith("/") && !value.split("/").includes(".."),
  "an absolute path without .. is needed",
);
const id = z.number().int().min(0).max(0xffff_fffe);
const mode = z.number().int().min(0).max(0o7777);
const owner = { mode: mode.optional(), uid: id.optional(), gid: id.optional() };
const flags = z.array(z.enum(Object.keys(MOUNT_FLAGS) as [keyof typeof MOUNT_FLAGS])).optional();

/**
 * One step of a plan, carried out in order by drums-init. A `target` or `path` is resolved inside the
 * plan's root (openat2 RESOLVE_IN_ROOT); one whose last component is a symbolic link is refused.
 * Steps among `hostMounts` are resolved in the host, in a private mount namespace.
 *
 * - `mount`: a new filesystem (mount(2)); `data` is the filesystem's own option string.
 * - `bind`: `source` is a host path, or a path in the root with `from: "root"`.
 * - `layer`: a clone of the mount that holds `source`, id-mapped by the plan's `idMap`
 *   (open_tree + mount_setattr + move_mount); for `hostMounts` only.
 * - `remount`: changes the flags of the mount at `target`.
 * - `propagation`: of the mount at `target` (mount_namespaces(7)). Every mount of the host is private at first.
 * - `readOnly`: makes an existing file or folder read-only by a bind onto itself; absent is fine.
 * - `mask`: hides an existing file behind /dev/null or a folder behind an empty tmpfs; absent is fine.
 * - `folder`: made with its parents; one that exists keeps its mode and owner.
 * - `node`: a character device. `link`: a symbolic link. `file`: replaces what is there.
 */
export const mountStepSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("mount"),
    fsType: text.min(1),
    source: text.min(1),
    target: absolute,
    options: flags,
    data: text.max(4095, "mount(2) takes at most 4095 bytes of options").optional(),
  }),
  z.strictObject({
    kind: z.literal("bind"),
    source: absolute,
    from: z.enum(["host", "root"]).optional(),
    target: absolute,
    recursive: z.boolean().optional(),
    options: flags,
  }),
  z.strictObject({ kind: z.literal("layer"), source: absolute, target: absolute }),
  z.strictObject({ kind: z.literal("remount"), target: absolute, options: flags }),
  z.strictObject({
    kind: z.literal("propagation"),
    target: absolute,
    mode: z.enum(Object.keys(PROPAGATIONS) as [keyof typeof PROPAGATIONS]),
    recursive: z.boolean().optional(),
  }),
  z.strictObject({ kind: z.literal("readOnly"), target: absolute }),
  z.strictObject({ kind: z.literal("mask"), target: absolute }),
  z.strictObject({ kind: z.literal("folder"), path: absolute, ...owner }),
  z.strictObject({
    kind: z.literal("node"),
    path: absolute,
    major: z.number().int().min(0).max(4095),
    minor: z.number().int().min(0).max(1048575),
    ...owner,
  }),
  z.strictObject({ kind: z.literal("link"), path: absolute, target: text.min(1) }),
  z.strictObject({ kind: z.literal("file"), path: absolute, content: text, ...owner }),
]);

const limit = z.strictObject({ soft: z.number().int().min(0), hard: z.number().int().min(0) });

/** `inside` ids 0 … size-1 are the host's base … base+size-1. */
export const idMapSchema = z.strictObject({
  base: z.number().int().min(1).max(0xffff_0000),
  size: z.number().int().min(1).max(0xffff_0000),
});

/** What is taken from a process on its way into a session; the same for the session, enter and exec. */
export const confinementSchema = z.strictObject({
  /** Capabilities kept in the bounding set, by name without CAP_; absent keeps all. */
  capabilities: z.array(text.min(1)).optional(),
  /** A classic BPF program (struct sock_filter, 8 bytes each). */
  seccomp: z.custom<Uint8Array>((value) => value instanceof Uint8Array, "bytes are needed").optional(),
  noNewPrivs: z.boolean().optional(),
});

const seconds = z
  .number()
  .int()
  .min(-(2 ** 53 - 1))
  .max(2 ** 53 - 1);

/** Seconds by which a time namespace's clocks are ahead of the host's (time_namespaces(7)). */
const timeOffsetsSchema = z.strictObject({ monotonic: seconds.optional(), boottime: seconds.optional() });

/** A program that is PID 1 of its session, in place of init: see runSession. */
export const programSchema = z.strictObject({
  /** A path in the root; PATH is not searched. */
  file: absolute,
  argv: z.array(text).min(1),
  /** The whole environment. Default: empty. */
  env: z.record(text.min(1), text).optional(),
  /** Default "/". */
  cwd: absolute.optional(),
  /** As the session counts it. Default 0. */
  uid: id.optional(),
  /** Default: the uid. */
  gid: id.optional(),
  groups: z.array(id).max(64).optional(),
});

/** A session's launch as plain data: what drums-init does, in the order in which it does it. */
export const launchPlanSchema = z.strictObject({
  namespaces: z.array(z.enum(NAMESPACE_KINDS)),
  /** Needed exactly where `namespaces` holds `user`. */
  idMap: idMapSchema.optional(),
  /** Carried out first, in the launcher's private mount namespace. */
  hostMounts: z.array(mountStepSchema),
  /** Host path that becomes the session's `/`, usually the target of an overlay among hostMounts. */
  root: absolute,
  /** Carried out in the new namespaces, inside the root, before the pivot. */
  insideMounts: z.array(mountStepSchema),
  hostname: z
    .string()
    .regex(/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$/, "a host name is 1 to 63 letters, digits, . or -"),
  /** Bring the loopback interface up. */
  lo: z.boolean().optional(),
  /**
   * The greatest pid of the session's pid namespace, so the most threads that it can have at once. Needs Linux 6.14:
   * before, the kernel has one for all. Needs a proc on /proc among the mounts inside.
   */
  pidMax: z.number().int().min(301).max(4_194_304).optional(),
  /** Added to every process's badness for the OOM killer: the session goes before others. */
  oomScoreAdj: z.number().int().min(0).max(1000).optional(),
  limits: z.partialRecord(z.enum(Object.keys(LIMITS) as [keyof typeof LIMITS]), limit).optional(),
  ...confinementSchema.shape,
  /** Of a new time namespace: needs `time` among the namespaces. */
  timeOffsets: timeOffsetsSchema.optional(),
  /** Environment of init alone: what it spawns gets its own. */
  env: z.record(text.min(1), text).optional(),
  /** Init's own file, a path in the root. Default "/usr/lib/drums/drums-init". */
  init: absolute.optional(),
  /** In place of init; then the plan is for runSession. */
  program: programSchema.optional(),
});

/** Whether a step mounts a session's own /proc. */
export function isProc(step: MountStep): boolean {
  return step.kind === "mount" && step.fsType === "proc" && step.target === "/proc";
}

export type LimitName = keyof typeof LIMITS;
export type MountFlag = keyof typeof MOUNT_FLAGS;
export type MountStep = z.input<typeof mountStepSchema>;
export type IdMap = z.input<typeof idMapSchema>;
export type Confinement = z.input<typeof confinementSchema>;
export type LaunchPlan = z.input<typeof launchPlanSchema>;
