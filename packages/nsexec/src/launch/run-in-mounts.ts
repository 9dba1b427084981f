import type { NativeChild } from "../child.js";
import { encodeMountsPlan } from "../plan/encode.js";
import { parseMountSteps } from "../plan/parse.js";
import type { IdMap, MountStep } from "../plan/schema.js";
import type { FdMapping } from "../syscalls/spawn.js";
import { failureOf, parseControl, startRole } from "./control.js";

/** What {@link runInMounts} takes. */
export interface RunInMountsOptions {
  /** Carried out in order in a private mount namespace, which vanishes with the program and its children. */
  readonly hostMounts: readonly MountStep[];
  /** For `layer` steps. */
  readonly idMap?: IdMap;
  /** The program's path on the host; PATH is not searched. */
  readonly file: string;
  readonly argv: readonly string[];
  /** The whole environment; nothing is inherited. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** The program's descriptors; every other one is closed. Default: none. */
  readonly fds?: readonly FdMapping[];
  /**
   * The kernel's same-page merging may merge memory of the program and of all that it makes (PR_SET_MEMORY_MERGE,
   * prctl(2)); Linux 6.7 or later. Who can time memory learns what others hold. Default false.
   */
  readonly mergeMemory?: boolean;
  /** A descriptor of the cgroup2 folder that the program is born in. */
  readonly cgroupFd?: number;
}

/**
 * Runs a program of the host in a private mount namespace with the given mounts, and resolves once it
 * has been executed. Nothing is left where a step fails.
 * @throws NsexecError code RUN_FAILED with step, path and errno; PLAN_INVALID
 */
export async function runInMounts(options: RunInMountsOptions): Promise<NativeChild> {
  const { hostMounts, idMap, file, argv, env = {}, cwd, uid, gid = uid, fds = [], cgroupFd } = options;
  const { mergeMemory = false } = options;
  const ids = uid === undefined || gid === undefined ? undefined : { uid, gid };
  const plan = () => {
    const asked = parseMountSteps(hostMounts);
    const program = { file, argv, env, cwd, ids };
    const mounts = { hostMounts: asked, mergeMemory, ...(idMap ? { idMap } : {}) };
    return { asked, packet: encodeMountsPlan(program, mounts) };
  };
  const { child, control, asked } = startRole("exec-in-mounts", { plan, fds, cgroupFd });
  try {
    // The socket is close-on-exec: its end says that the program runs.
    const packet = await control.receive();
    if (packet === undefined) return child;
    await child.exited;
    throw failureOf(parseControl(packet.data), "RUN_FAILED", {
      hostMounts: asked,
      insideMounts: [],
    });
  } finally {
    control.close();
  }
}
