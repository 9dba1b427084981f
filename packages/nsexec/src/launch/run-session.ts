import type { NativeChild } from "../child.js";
import { NsexecError } from "../errors.js";
import { encodeLaunchPlan } from "../plan/encode.js";
import { parseLaunchPlan } from "../plan/parse.js";
import type { LaunchPlan } from "../plan/schema.js";
import type { FdMapping } from "../syscalls/spawn.js";
import { failureOf, launcherFor, parseControl, startRole } from "./control.js";

const CGROUP_FD = 3;

/** Options of {@link runSession}. */
export interface RunSessionOptions {
  /** The program's stdio: targets 0, 1 and 2. What is absent is the session's own /dev/null. */
  readonly fds?: readonly FdMapping[];
  /** A descriptor of the cgroup2 folder that the session is born in. Default: the caller's own group. */
  readonly cgroupFd?: number;
}

/**
 * Carries out a plan whose PID 1 is a `program` of its own, as bubblewrap does, and resolves once it runs.
 * `exited` is how the program ended. It lives no longer than the child: kill that, and the session is gone.
 * The root needs no drums-init. Of what init does nothing is done: orphans are the program's to reap.
 * @throws NsexecError code LAUNCH_FAILED with step, path and errno; PLAN_INVALID
 */
export async function runSession(plan: LaunchPlan, options: RunSessionOptions = {}): Promise<NativeChild> {
  const { fds = [], cgroupFd } = options;
  if (fds.some(({ target }) => target > 2)) throw notRunnable(fds);
  const prepare = () => {
    const asked = parseLaunchPlan(plan);
    if (asked.program === undefined) throw notRunnable(fds);
    const stdio = fds.map(({ target }) => target);
    const group = cgroupFd === undefined ? {} : { cgroupFd: CGROUP_FD };
    return { asked, packet: encodeLaunchPlan(asked, { stdio, ...group }) };
  };
  const group = cgroupFd === undefined ? [] : [{ source: cgroupFd, target: CGROUP_FD }];
  const { child, control, asked } = startRole(launcherFor(plan), { plan: prepare, fds: [...fds, ...group] });
  try {
    // Close-on-exec, and closed by the launcher: its end says that the program runs.
    const said = await control.receive();
    if (said === undefined) return child;
    await child.exited;
    throw failureOf(parseControl(said.data), "LAUNCH_FAILED", asked);
  } finally {
    control.close();
  }
}

function notRunnable(fds: readonly FdMapping[]): NsexecError {
  const extra = fds.find(({ target }) => target > 2);
  const reason = extra ? `descriptor ${extra.target} is none of 0, 1 and 2` : "the plan names no program";
  return new NsexecError("PLAN_INVALID", `this session cannot be run: ${reason}`, {
    step: "plan",
    hint: "Give the plan a program; a session with an init is launched by launchSession.",
  });
}
