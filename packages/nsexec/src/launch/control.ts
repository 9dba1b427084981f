import { closeSync } from "node:fs";
import { type NativeChild, spawnNative } from "../child.js";
import { errnoName, NsexecError } from "../errors.js";
import { explainStep, type StepFailure } from "../explain/index.js";
import { initBinaryPath } from "../init-binary.js";
import type { LaunchPlan } from "../plan/schema.js";
import { SeqpacketChannel } from "../seqpacket.js";
import { socketpairSeqpacket } from "../syscalls/socket.js";
import type { FdMapping } from "../syscalls/spawn.js";
import { hintForStep } from "./hints.js";

/** A running role of drums-init and the socket on which it tells what it does. */
export interface Role<T> {
  readonly child: NativeChild;
  readonly control: SeqpacketChannel;
  /** What the role was given to do. */
  readonly asked: T;
}

export interface StartRoleOptions<T> {
  /**
   * Checks and encodes what the role is to do. Called once it is being executed, for that takes as long: it waits for
   * its plan and has done nothing yet, and what is thrown here ends it.
   */
  readonly plan: () => { readonly asked: T; readonly packet: Buffer };
  /** Descriptors of the child beside the control socket. */
  readonly fds: readonly FdMapping[];
  readonly cgroupFd?: number | undefined;
}

/** native/init/roles.h says what each does. */
type RoleName = "launch" | "launch-with-net" | "exec-in-mounts" | "enter" | "pid-max";

/** The launcher for a plan that is still to be checked: one without a user namespace can have its net made meanwhile. */
export function launcherFor({ namespaces }: Pick<LaunchPlan, "namespaces">): RoleName {
  // A caller in JavaScript may give anything here; the check of the plan says so then.
  const named: ReadonlySet<unknown> = new Set(Array.isArray(namespaces) ? namespaces : []);
  return named.has("net") && !named.has("user") ? "launch-with-net" : "launch";
}

/** Starts drums-init in a role and hands it its plan. */
export function startRole<T>(role: RoleName, options: StartRoleOptions<T>): Role<T> {
  const [ours, theirs] = socketpairSeqpacket();
  const control = new SeqpacketChannel(ours);
  const target = Math.max(2, ...options.fds.map((fd) => fd.target)) + 1;
  let child: NativeChild | undefined;
  try {
    const file = initBinaryPath();
    child = spawnNative({
      file,
      argv: ["drums-init", role, String(target)],
      fds: [...options.fds, { source: theirs, target }],
      ...(options.cgroupFd === undefined ? {} : { cgroupFd: options.cgroupFd }),
    });
    const { asked, packet } = options.plan();
    control.send(packet);
    return { child, control, asked };
  } catch (error) {
    control.close();
    child?.kill("SIGKILL");
    throw error;
  } finally {
    closeSync(theirs);
  }
}

/** A packet of the control socket, split at its NULs. */
export interface ControlMessage {
  readonly verb: string;
  /** A character a byte: a long part comes in pieces, cut anywhere. See {@link decodeField}. */
  readonly fields: readonly string[];
}

export function parseControl(data: Buffer): ControlMessage {
  const [verb = "", ...fields] = data.toString("latin1").split("\0");
  return { verb, fields };
}

/** The text of a field, or of joined pieces of one. */
export function decodeField(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** The error that a `fail STEP PATH ERRNO` packet stands for. */
export function failureOf({ fields }: ControlMessage, code: string, plan?: StepFailure["plan"]): NsexecError {
  const [step = "unknown", path = "", errno = "0"] = fields.map(decodeField);
  const name = errnoName(Number(errno));
  const explained = explainStep({ step, path, errno: name, plan });
  const hint = explained?.hint ?? hintForStep(step, name);
  return new NsexecError(code, `${step} failed at ${path || "-"}: ${name}`, {
    step,
    path,
    errno: -Number(errno),
    ...(explained ? { reason: explained.reason } : {}),
    ...(hint === undefined ? {} : { hint }),
  });
}
