import { type ChildProcess, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { NsexecError } from "./errors.js";
import { initBinaryPath } from "./init-binary.js";
import { failureOf, parseControl } from "./launch/control.js";
import { encodeEnterPlan } from "./plan/encode.js";
import type { Confinement } from "./plan/schema.js";
import { type NamespaceKind, readNamespaces, sameNamespace } from "./proc/namespaces.js";
import { processGone } from "./proc/processes.js";
import { readStartTime } from "./proc/stat.js";
import { SeqpacketChannel } from "./seqpacket.js";
import { type ExitStatus, pidfdOpen } from "./syscalls/pidfd.js";
import { socketpairSeqpacket } from "./syscalls/socket.js";

const CONTROL_FD = 3;
const SESSION_FD = 4;

/** What {@link enterSession} takes. */
export interface EnterOptions {
  /** PID 1 of the session, as the host numbers it. */
  readonly pid: number;
  /** Clock ticks; refuses a process that merely has the same pid. */
  readonly startTime: bigint;
  /** The session's own confinement: what is entered must hold no more. See buildConfinement. */
  readonly confinement: Confinement;
  /** The program's path in the session; PATH is not searched. */
  readonly file: string;
  readonly argv: readonly string[];
  /** The whole environment; nothing is inherited. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** As the session counts it. Default 0. */
  readonly uid?: number;
  /** Default: the uid. */
  readonly gid?: number;
  readonly groups?: readonly number[];
  /** Default "/". */
  readonly cwd?: string;
  /** The program is killed after this. Default 60 000. */
  readonly timeoutMs?: number;
  /** The most that is taken of each output; more kills the program. Default 1 MiB. */
  readonly maxBytes?: number;
}

/** How an entered program ended and what it said. */
export interface EnterResult extends ExitStatus {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/**
 * Runs a short-lived program in a session from outside, with the session's own confinement. Its parent is
 * not in the session, so it is never part of a checkpoint, and a dump must wait until it has ended: what
 * is to stay is started through init. It keeps the caller's cgroup.
 * @throws NsexecError code ENTER_FAILED with step, path and errno; PROCESS_GONE, TIMEOUT, OUTPUT_TOO_LARGE
 */
export async function enterSession(options: EnterOptions): Promise<EnterResult> {
  const { pid, startTime, file, argv, env = {}, cwd, uid = 0, gid = uid, groups } = options;
  const session = await openProcess(pid, startTime);
  try {
    const namespaces = await namespacesToJoin(pid);
    const plan = encodeEnterPlan(
      { file, argv, env, cwd, ids: { uid, gid, groups } },
      { namespaces, sessionFd: SESSION_FD, confinement: options.confinement },
    );
    return await runRole(plan, session, options);
  } finally {
    closeSync(session);
  }
}

async function openProcess(pid: number, startTime: bigint): Promise<number> {
  const pidfd = pidfdOpen(pid);
  // Asked after the open: if it is still that process now, the pidfd is its.
  if ((await readStartTime(pid).catch(() => undefined)) === startTime) return pidfd;
  closeSync(pidfd);
  throw processGone(pid);
}

/** Those in which the session differs from us: to join one's own is refused for a user namespace. */
async function namespacesToJoin(pid: number): Promise<NamespaceKind[]> {
  const [theirs, ours] = await Promise.all([readNamespaces(pid), readNamespaces("self")]);
  return (Object.keys(theirs) as NamespaceKind[]).filter((kind) => !sameNamespace(theirs[kind], ours[kind]));
}

async function runRole(plan: Buffer, session: number, options: EnterOptions): Promise<EnterResult> {
  const [ours, theirs] = socketpairSeqpacket();
  const control = new SeqpacketChannel(ours);
  try {
    control.send(plan);
    // Through Node's own spawn, whose pipes carry the output; the descriptors follow it as stdio.
    const child = spawn(initBinaryPath(), ["enter", String(CONTROL_FD)], {
      env: {},
      stdio: ["ignore", "pipe", "pipe", theirs, session],
    });
    closeSync(theirs);
    const [failure, result] = await Promise.all([control.receive(), collect(child, options)]);
    if (failure !== undefined) throw failureOf(parseControl(failure.data), "ENTER_FAILED");
    return result;
  } finally {
    control.close();
  }
}

async function collect(child: ChildProcess, options: EnterOptions): Promise<EnterResult> {
  const { timeoutMs = 60_000, maxBytes = 1 << 20 } = options;
  let refusal: NsexecError | undefined;
  const stop = (error: NsexecError) => {
    refusal ??= error;
    child.kill("SIGKILL");
  };
  const timer = setTimeout(() => stop(timedOut(timeoutMs)), timeoutMs);
  const outputs = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = [];
    let size = 0;
    stream?.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) stop(tooLarge(maxBytes));
      else chunks.push(chunk);
    });
    return chunks;
  });
  try {
    const status = await new Promise<ExitStatus>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve(signal ? { signal } : { code: code ?? 0 }));
    });
    if (refusal) throw refusal;
    const [stdout, stderr] = outputs.map((chunks) => Buffer.concat(chunks)) as [Buffer, Buffer];
    return { ...status, stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
}

function timedOut(timeoutMs: number): NsexecError {
  return new NsexecError("TIMEOUT", `the entered program ran longer than ${timeoutMs} ms and was killed`);
}

function tooLarge(maxBytes: number): NsexecError {
  return new NsexecError(
    "OUTPUT_TOO_LARGE",
    `the entered program wrote more than ${maxBytes} bytes and was killed`,
    {
      hint: "Raise maxBytes, or have it write to a file.",
    },
  );
}
