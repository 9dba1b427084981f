import { closeSync } from "node:fs";
import { NsexecError } from "../errors.js";
import { encodeLaunchPlan } from "../plan/encode.js";
import { parseLaunchPlan } from "../plan/parse.js";
import type { LaunchPlan } from "../plan/schema.js";
import { readStartTime } from "../proc/stat.js";
import type { SeqpacketChannel } from "../seqpacket.js";
import { pidfdOpen, pidfdSendSignal, pidfdWait } from "../syscalls/pidfd.js";
import { type ControlMessage, failureOf, launcherFor, parseControl, startRole } from "./control.js";
import { assembleReport, type StageTwoReport } from "./report.js";

const CGROUP_FD = 3;

/** Options of {@link launchSession}. */
export interface LaunchOptions {
  /** A descriptor of the cgroup2 folder that the session is born in. Default: the caller's own group. */
  readonly cgroupFd?: number;
  /** For everything up to the report, and again for `go`. Default 10 000. */
  readonly timeoutMs?: number;
}

/** A session that stands ready and waits: nothing but its PID 1 runs in it. */
export interface PendingSession {
  /** PID 1 of the session, as the host numbers it. */
  readonly initPid: number;
  /** Clock ticks; with the pid the identity of PID 1. */
  readonly startTime: bigint;
  readonly report: StageTwoReport;
  /** Lets the session live: resolves once its init listens. It then outlives this process. */
  go(): Promise<void>;
  /** Refuses it: resolves once PID 1, and with it all its namespaces, is gone. */
  abort(): Promise<void>;
}

/**
 * Carries out a plan up to the point where PID 1 of the session has reported and waits for `go`. Nothing
 * is left where it fails: mounts live in the session's own namespaces and go with its processes.
 * @throws NsexecError code LAUNCH_FAILED with step, path and errno; PLAN_INVALID; TIMEOUT
 */
export async function launchSession(plan: LaunchPlan, options: LaunchOptions = {}): Promise<PendingSession> {
  const { cgroupFd, timeoutMs = 10_000 } = options;
  const prepare = () => {
    const asked = parseLaunchPlan(plan);
    if (asked.program) throw notLaunchable();
    return { asked, packet: encodeLaunchPlan(asked, cgroupFd === undefined ? {} : { cgroupFd: CGROUP_FD }) };
  };
  const fds = cgroupFd === undefined ? [] : [{ source: cgroupFd, target: CGROUP_FD }];
  const { child, control, asked } = startRole(launcherFor(plan), { plan: prepare, fds });
  const init = new InitHandle();
  try {
    const report = await collectReport({ control, init, plan: asked }, Date.now() + timeoutMs);
    await child.exited;
    return new Pending(init, control, report, timeoutMs);
  } catch (error) {
    control.close();
    child.kill("SIGKILL");
    await child.exited;
    await init.end();
    throw error;
  }
}

function notLaunchable(): NsexecError {
  return new NsexecError("PLAN_INVALID", "the plan's program would take the place of its init", {
    step: "plan",
    hint: "Run it with runSession, or spawn the program through init.",
  });
}

/** PID 1 by pidfd, from the moment at which the launcher named it. */
class InitHandle {
  pid = 0;
  startTime = 0n;
  #pidfd: number | undefined;

  /** The number may be another's by now, where the init died at once: then the start time differs. */
  async found(pid: number, startTime: bigint): Promise<void> {
    this.pid = pid;
    this.startTime = startTime;
    const pidfd = ifAlive(() => pidfdOpen(pid));
    if (pidfd === undefined) return;
    if ((await readStartTime(pid).catch(() => undefined)) === startTime) this.#pidfd = pidfd;
    else closeSync(pidfd);
  }

  /** Kills PID 1 and waits until it is gone; its namespaces and mounts go with it. */
  async end(): Promise<void> {
    const pidfd = this.#pidfd;
    if (pidfd === undefined) return;
    this.#pidfd = undefined;
    ifAlive(() => pidfdSendSignal(pidfd, "SIGKILL"));
    await pidfdWait(pidfd);
    closeSync(pidfd);
  }

  /** Lets go of a session that lives on. */
  close(): void {
    if (this.#pidfd !== undefined) closeSync(this.#pidfd);
    this.#pidfd = undefined;
  }
}

function ifAlive<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch (error) {
    if (error instanceof NsexecError && error.code === "ESRCH") return undefined;
    throw error;
  }
}

interface Launching {
  readonly control: SeqpacketChannel;
  readonly init: InitHandle;
  readonly plan: LaunchPlan;
}

async function collectReport({ control, init, plan }: Launching, deadline: number): Promise<StageTwoReport> {
  const parts = new Map<string, string>();
  for (;;) {
    const message = await nextMessage(control, deadline, plan);
    if (message.verb === "ready") return assembleReport(parts);
    await takeMessage(message, parts, init);
  }
}

async function takeMessage(
  { verb, fields }: ControlMessage,
  parts: Map<string, string>,
  init: InitHandle,
): Promise<void> {
  const [first = "", second = ""] = fields;
  if (verb === "part") parts.set(first, (parts.get(first) ?? "") + second);
  else if (verb === "pid") await init.found(Number(first), BigInt(second));
  else
    throw new NsexecError("LAUNCH_FAILED", `drums-init sent ${verb}, which is unknown`, { step: "control" });
}

async function nextMessage(
  control: SeqpacketChannel,
  deadline: number,
  plan?: LaunchPlan,
): Promise<ControlMessage> {
  const packet = await control.receive({ timeoutMs: Math.max(1, deadline - Date.now()) });
  if (packet === undefined)
    throw new NsexecError("LAUNCH_FAILED", "drums-init ended without a word", {
      step: "control",
      hint: "It was killed: look for the OOM killer in dmesg, or for a cgroup that is being killed.",
    });
  const message = parseControl(packet.data);
  if (message.verb === "fail") throw failureOf(message, "LAUNCH_FAILED", plan);
  return message;
}

class Pending implements PendingSession {
  readonly initPid: number;
  readonly startTime: bigint;
  #settled = false;

  constructor(
    private readonly init: InitHandle,
    private readonly control: SeqpacketChannel,
    readonly report: StageTwoReport,
    private readonly timeoutMs: number,
  ) {
    this.initPid = init.pid;
    this.startTime = init.startTime;
  }

  async go(): Promise<void> {
    this.#settle();
    try {
      this.control.send(Buffer.from("go"));
      const message = await nextMessage(this.control, Date.now() + this.timeoutMs);
      if (message.verb !== "up")
        throw new NsexecError("LAUNCH_FAILED", `init answered ${message.verb}`, { step: "go" });
    } catch (error) {
      await this.init.end();
      throw error;
    } finally {
      this.control.close();
      this.init.close();
    }
  }

  async abort(): Promise<void> {
    this.#settle();
    this.control.close();
    await this.init.end();
  }

  #settle(): void {
    if (this.#settled) throw new NsexecError("SESSION_SETTLED", "go() or abort() was called before");
    this.#settled = true;
  }
}
