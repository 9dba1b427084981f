import { closeSync } from "node:fs";
import { isFieldSet } from "@bufbuild/protobuf";
import { CriuError } from "../errors.js";
import { criu_notifySchema, criu_req_type } from "../gen/rpc_pb.js";
import type { Criu } from "../install/find.js";
import {
  type CriuRequest,
  type CriuResponse,
  decodeResponse,
  encodeNotifyReply,
  encodeRequest,
} from "./messages.js";
import { isStage, type Notification, type NotifyHandler } from "./notify.js";
import { type StartOptions, type Swrk, startSwrk } from "./start.js";

/** Options of {@link callCriu}. */
export interface CallOptions {
  readonly start?: StartOptions;
  /** Told of each notification, one at a time; the request must ask for them (`notifyScripts`). */
  readonly onNotify?: NotifyHandler;
  /** Kills criu when aborted. The tasks of a dump run on. */
  readonly signal?: AbortSignal;
  /** Kills criu when this has passed. Default 120 000. */
  readonly timeoutMs?: number;
  /** Called before criu is killed for an abort or the time bound, to clear what would be left. */
  readonly beforeKill?: (criuPid: number) => void;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** criu ends by itself once its socket is closed; one that does not is killed. */
const END_TIMEOUT_MS = 5_000;

/**
 * One request to a fresh `criu swrk`, answered. A process serves one request only, because CRIU leaks
 * resources of a dump or restore (criu/cr-service.c). An answer with `success: false` is returned, not thrown.
 * @throws {CriuError} `RPC_ABORTED`, `RPC_TIMEOUT`, `RPC_CLOSED` (criu died), `RPC_PROTOCOL`
 * @throws what `onNotify` rejected with, after CRIU has given up and cleaned up
 */
export async function callCriu(
  criu: Criu,
  request: CriuRequest,
  options: CallOptions = {},
): Promise<CriuResponse> {
  options.signal?.throwIfAborted();
  const swrk = await startSwrk(criu, options.start);
  const stopper = stopperFor(swrk, options);
  try {
    swrk.socket.send(encodeRequest(request));
    return await Promise.race([converse(swrk, options.onNotify, stopper.signal), stopper.stopped]);
  } finally {
    stopper.dispose();
    swrk.socket.close();
    await endOf(swrk);
  }
}

/** Answers notifications until the response comes. */
async function converse(
  swrk: Swrk,
  onNotify: NotifyHandler = () => {},
  signal: AbortSignal,
): Promise<CriuResponse> {
  let refused: { reason: unknown } | undefined;
  for (;;) {
    const packet = await swrk.socket.receive();
    if (packet === undefined) throw await closedError(swrk);
    const { data, fds } = packet;
    const response = decodeResponse(data);
    if (response.type !== criu_req_type.NOTIFY) {
      if (refused !== undefined) throw refused.reason;
      return response;
    }
    const failure = await handle(
      onNotify,
      notificationOf(response, { fds, criuPid: swrk.child.pid, signal }),
    );
    refused ??= failure;
    if (!signal.aborted) send(swrk, encodeNotifyReply(failure === undefined));
  }
}

async function handle(onNotify: NotifyHandler, notification: Notification | undefined) {
  if (notification === undefined) return undefined;
  try {
    await onNotify(notification);
    return undefined;
  } catch (reason) {
    return { reason };
  } finally {
    for (const fd of notification.fds) closeSync(fd);
  }
}

function notificationOf(
  response: CriuResponse,
  rest: { fds: readonly number[]; criuPid: number; signal: AbortSignal },
): Notification | undefined {
  const { notify } = response;
  if (notify === undefined || !isStage(notify.script)) return undefined;
  const hasPid = isFieldSet(notify, criu_notifySchema.field.pid);
  return { stage: notify.script, ...(hasPid ? { pid: notify.pid } : {}), ...rest };
}

/** A criu that died while a handler ran is found at the next read. */
function send(swrk: Swrk, packet: Buffer): void {
  try {
    swrk.socket.send(packet);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && /^(EPIPE|ECONNRESET)$/.test(String(error.code))))
      throw error;
  }
}

/** Turns an abort or the time bound into the end of criu and a rejection. */
function stopperFor(swrk: Swrk, options: CallOptions) {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, beforeKill = () => {} } = options;
  const controller = new AbortController();
  let reject: (reason: CriuError) => void = () => {};
  const stopped = new Promise<never>((_, rejectStopped) => {
    reject = rejectStopped;
  });
  stopped.catch(() => {});
  const stop = (error: CriuError) => {
    beforeKill(swrk.child.pid);
    swrk.child.kill("SIGKILL");
    controller.abort(error);
    reject(error);
  };
  const onAbort = () => stop(abortedError(signal?.reason));
  const timer = setTimeout(() => stop(timeoutError(timeoutMs)), timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  const dispose = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
  return { signal: controller.signal, stopped, dispose };
}

async function endOf(swrk: Swrk): Promise<void> {
  const timer = setTimeout(() => swrk.child.kill("SIGKILL"), END_TIMEOUT_MS);
  await swrk.child.exited.finally(() => clearTimeout(timer));
}

async function closedError(swrk: Swrk): Promise<CriuError> {
  const status = await swrk.child.exited;
  const how = status.signal ?? `exit status ${status.code}`;
  return new CriuError("RPC_CLOSED", `criu (pid ${swrk.child.pid}) ended without an answer: ${how}`, {
    hint: "See the log; a process that was being dumped runs on, a half restored one is gone",
    facts: { pid: swrk.child.pid, how },
  });
}

function abortedError(cause: unknown): CriuError {
  return new CriuError("RPC_ABORTED", "The call to criu was aborted by its caller", {
    hint: "Nothing is to be done: criu was ended, a process that was being dumped runs on",
    cause,
  });
}

function timeoutError(timeoutMs: number): CriuError {
  return new CriuError("RPC_TIMEOUT", `criu did not answer within ${timeoutMs} ms`, {
    hint: "See the log for what it was doing; give a larger timeoutMs for a very large session",
    facts: { timeoutMs },
  });
}
