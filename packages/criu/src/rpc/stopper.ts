import { CriuError } from "../errors.js";
import type { Swrk } from "./start.js";

/** What is left of a call that ends without an answer, before criu is killed. */
export interface Remains {
  readonly criuPid: number;
  /** Inode of criu's end of the socket: what criu has forked holds it too. */
  readonly socketInode: bigint;
}

/** Options of {@link stopperFor}. */
export interface StopOptions {
  /** Kills criu when aborted. The tasks of a dump run on. */
  readonly signal?: AbortSignal;
  /** Kills criu when this has passed. Default 120 000. */
  readonly timeoutMs?: number;
  /** Called where the call ends without an answer, and before criu is killed: clears what would be left. */
  readonly onRemains?: (remains: Remains) => void;
}

/** Ends a call early: by an abort, the time bound, or criu's own death. */
export interface Stopper {
  /** Aborted with the call. */
  readonly signal: AbortSignal;
  /** Never resolves. */
  readonly stopped: Promise<never>;
  /** Call once the answer is there. */
  dispose(): void;
}

const DEFAULT_TIMEOUT_MS = 120_000;

/** Watches over a call. What criu forked may hold its socket open, so its end is seen by its exit, not by the socket. */
export function stopperFor(swrk: Swrk, options: StopOptions): Stopper {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, onRemains = () => {} } = options;
  const controller = new AbortController();
  const { promise: stopped, reject } = rejection();
  let disposed = false;
  const stop = (error: CriuError) => {
    if (disposed) return;
    onRemains({ criuPid: swrk.child.pid, socketInode: swrk.socketInode });
    swrk.child.kill("SIGKILL");
    controller.abort(error);
    reject(error);
  };
  const onAbort = () => stop(abortedError(signal?.reason));
  const timer = setTimeout(() => stop(timeoutError(timeoutMs)), timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  void swrk.child.exited.then(async (status) => {
    await turnsOfTheLoop();
    stop(closedError(swrk.child.pid, status.signal ?? `exit status ${status.code}`));
  });
  const dispose = () => {
    disposed = true;
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, stopped, dispose };
}

function rejection(): { promise: Promise<never>; reject: (reason: CriuError) => void } {
  let reject: (reason: CriuError) => void = () => {};
  const promise = new Promise<never>((_, rejectPromise) => {
    reject = rejectPromise;
  });
  promise.catch(() => {});
  return { promise, reject };
}

/** An answer that criu sent before it exited is in the socket by now, and is read first. */
async function turnsOfTheLoop(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The error of a call whose caller gave it up. */
export function abortedError(cause: unknown): CriuError {
  return new CriuError("RPC_ABORTED", "The call to criu was aborted by its caller", {
    hint: "Nothing is to be done: criu was ended, a process that was being dumped runs on",
    cause,
  });
}

/** The error of a call whose criu ended without an answer. */
export function closedError(pid: number, how: string): CriuError {
  return new CriuError("RPC_CLOSED", `criu (pid ${pid}) ended without an answer: ${how}`, {
    hint: "See the log; a process that was being dumped runs on, a half restored one is gone",
    facts: { pid, how },
  });
}

function timeoutError(timeoutMs: number): CriuError {
  return new CriuError("RPC_TIMEOUT", `criu did not answer within ${timeoutMs} ms`, {
    hint: "See the log for what it was doing; give a larger timeoutMs for a very large session",
    facts: { timeoutMs },
  });
}
