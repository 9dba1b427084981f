import { NsexecError } from "../errors.js";
import { capabilityMask } from "../profiles/capabilities.js";
import { CLONE_NEW } from "../syscalls/constants.js";
import {
  type Confinement,
  isProc,
  type LaunchPlan,
  LIMITS,
  MOUNT_FLAGS,
  type MountFlag,
  type MountStep,
  PROPAGATIONS,
} from "./schema.js";

/** The first field of every plan; native/init/plan.h holds the same. */
const MAGIC = "drums-plan-1";

/** One packet has to fit the socket's send buffer, whose default is 208 KiB. */
const MAX_BYTES = 160 * 1024;

type Field = string | number;
type Verb = readonly [verb: string, ...args: Field[]];

/** Where a program is told what to be: for `exec-in-mounts` and `enter`. */
export interface ProgramPart {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly ids?:
    | { readonly uid: number; readonly gid: number; readonly groups?: readonly number[] | undefined }
    | undefined;
}

/** The descriptors that a launcher is handed. */
export interface EncodeLaunchOptions {
  readonly cgroupFd?: number;
  /** Which of 0, 1 and 2 are the caller's and stay the program's. */
  readonly stdio?: readonly number[];
}

/** The plan of a session as the packet that `drums-init launch` reads. */
export function encodeLaunchPlan(plan: LaunchPlan, options: EncodeLaunchOptions = {}): Buffer {
  return encode([
    ["namespaces", cloneFlags(plan.namespaces)],
    ["root", plan.root],
    ["hostname", plan.hostname],
    ...firstProgram(plan),
    ...(options.stdio?.length ? [["stdio", ...options.stdio] as const] : []),
    ...timeOffsets(plan.timeOffsets),
    ...(plan.lo ? [["lo"] as const] : []),
    ...(plan.idMap ? [["id-map", plan.idMap.base, plan.idMap.size] as const] : []),
    ...(options.cgroupFd === undefined ? [] : [["cgroup-fd", options.cgroupFd] as const]),
    ...(plan.oomScoreAdj === undefined ? [] : [["oom-score", plan.oomScoreAdj] as const]),
    ...limits(plan.limits ?? {}),
    ...confinement(plan),
    ["host"],
    ...plan.hostMounts.map(step),
    ["inside"],
    ...plan.insideMounts.flatMap((one) => [step(one), ...(isProc(one) ? pidMax(plan) : [])]),
  ]);
}

/** Host mounts and a program as the packet that `drums-init exec-in-mounts` reads. */
export function encodeMountsPlan(
  program: ProgramPart,
  options: {
    readonly hostMounts: readonly MountStep[];
    readonly idMap?: LaunchPlan["idMap"];
    readonly mergeMemory?: boolean;
  },
): Buffer {
  return encode([
    ...programPart(program),
    ...(options.mergeMemory ? [["merge"] as const] : []),
    ...(options.idMap ? [["id-map", options.idMap.base, options.idMap.size] as const] : []),
    ["host"],
    ...options.hostMounts.map(step),
  ]);
}

/** A program and its confinement as the packet that `drums-init enter` reads. */
export function encodeEnterPlan(
  program: ProgramPart,
  options: {
    readonly namespaces: LaunchPlan["namespaces"];
    readonly sessionFd: number;
    readonly confinement: Confinement;
  },
): Buffer {
  return encode([
    ...programPart(program),
    ["namespaces", cloneFlags(options.namespaces)],
    ["session-fd", options.sessionFd],
    ...confinement(options.confinement),
  ]);
}

function encode(verbs: readonly Verb[]): Buffer {
  const fields = verbs.flatMap(([verb, ...args]) => [verb, args.length, ...args]);
  const packet = Buffer.from([MAGIC, ...fields].map((field) => `${field}\0`).join(""));
  if (packet.length <= MAX_BYTES) return packet;
  throw new NsexecError("PLAN_TOO_LARGE", `the plan has ${packet.length} bytes, more than ${MAX_BYTES}`, {
    hint: "Use fewer or shorter layers, or put large files into a layer instead of the plan.",
  });
}

function firstProgram({ program, init, env = {} }: LaunchPlan): Verb[] {
  if (!program)
    return [
      ["program", init ?? "/usr/lib/drums/drums-init"],
      ["env", ...pairs(env)],
    ];
  const { uid = 0, gid = uid, groups } = program;
  return programPart({ ...program, env: program.env ?? {}, ids: { uid, gid, groups } });
}

/** Set through the session's own /proc, once that is there and before its settings are made read-only. */
function pidMax({ pidMax: value }: LaunchPlan): Verb[] {
  return value === undefined ? [] : [["pid-max", value]];
}

function timeOffsets(offsets: LaunchPlan["timeOffsets"]): Verb[] {
  return offsets ? [["time", offsets.monotonic ?? 0, offsets.boottime ?? 0]] : [];
}

function programPart({ file, argv, env, cwd, ids }: ProgramPart): Verb[] {
  return [
    ["program", file],
    ["argv", ...argv],
    ["env", ...pairs(env)],
    ...(cwd === undefined ? [] : [["cwd", cwd] as const]),
    ...(ids
      ? ([
          ["uid", ids.uid],
          ["gid", ids.gid],
          ["groups", ...(ids.groups ?? [])],
        ] as const)
      : []),
  ];
}

function confinement({ capabilities, seccomp, noNewPrivs }: Confinement): Verb[] {
  return [
    ...(capabilities ? [["capabilities", capabilityMask(capabilities).toString()] as const] : []),
    ...(seccomp ? [["seccomp", Buffer.from(seccomp).toString("hex")] as const] : []),
    ...(noNewPrivs ? [["no-new-privs"] as const] : []),
  ];
}

function limits(wanted: NonNullable<LaunchPlan["limits"]>): Verb[] {
  return Object.entries(LIMITS).flatMap(([name, resource]) => {
    const limit = wanted[name as keyof typeof LIMITS];
    return limit ? [["limit", resource, limit.soft, limit.hard] as const] : [];
  });
}

function step(one: MountStep): Verb {
  switch (one.kind) {
    case "mount":
      return ["mount", one.target, one.source, one.fsType, mountFlags(one.options), one.data ?? ""];
    case "bind":
      return [
        "bind",
        one.target,
        one.source,
        one.from === "root" ? 1 : 0,
        one.recursive ? 1 : 0,
        mountFlags(one.options),
      ];
    case "layer":
      return ["layer", one.target, one.source];
    case "propagation":
      return ["propagation", one.target, PROPAGATIONS[one.mode], one.recursive ? 1 : 0];
    case "remount":
      return ["remount", one.target, mountFlags(one.options)];
    case "readOnly":
      return ["read-only", one.target];
    case "mask":
      return ["mask", one.target];
    case "folder":
      return ["folder", one.path, one.mode ?? 0o755, one.uid ?? 0, one.gid ?? 0];
    case "node":
      return ["node", one.path, one.mode ?? 0o666, one.uid ?? 0, one.gid ?? 0, one.major, one.minor];
    case "link":
      return ["link", one.path, one.target];
    case "file":
      return ["file", one.path, one.mode ?? 0o644, one.uid ?? 0, one.gid ?? 0, one.content];
  }
}

/** A session's pid namespace and the limit to be set there, as the packet that `drums-init pid-max` reads. */
export function encodePidMax(value: number, sessionFd: number): Buffer {
  return encode([
    ["pid-limit", value],
    ["session-fd", sessionFd],
  ]);
}

/** Addition, not |: the highest flag would turn negative in 32 bits. */
function cloneFlags(namespaces: LaunchPlan["namespaces"]): number {
  return [...new Set(namespaces)].reduce((sum, kind) => sum + CLONE_NEW[kind], 0);
}

function mountFlags(names: readonly MountFlag[] = []): number {
  return names.reduce((sum, name) => sum | MOUNT_FLAGS[name], 0);
}

function pairs(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([key, value]) => `${key}=${value}`);
}
