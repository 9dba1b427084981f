import { closeSync } from "node:fs";
import { isFieldSet } from "@bufbuild/protobuf";
import { criu_notifySchema, criu_req_type } from "../gen/rpc_pb.js";
import type { Criu } from "../install/find.js";
import { assertOptions } from "./check-options.js";
import {
  type CriuRequest,
  type CriuResponse,
  decodeResponse,
  encodeNotifyReply,
  encodeRequest,
} from "./messages.js";
import { isStage, type Notification, type NotifyHandler } from "./notify.js";
import { type StartOptions, type Swrk, startSwrk } from "./start.js";
import { abortedError, closedError, type StopOptions, stopperFor } from "./stopper.js";

/** Options of {@link callCriu}. */
export interface CallOptions extends StopOptions {
  readonly start?: StartOptions;
  /** Told of each notification, one at a time; the request must ask for them (`notifyScripts`). */
  readonly onNotify?: NotifyHandler;
}

/** criu ends by itself once its socket is closed; one that does not is killed. */
const END_TIMEOUT_MS = 5_000;

/**
 * One request to a fresh `criu swrk`, answered. A process serves one request only, because CRIU leaks
 * resources of a dump or restore (criu/cr-service.c). An answer with `success: false` is returned, not thrown.
 * @throws {CriuError} `RPC_ARGUMENT`, `RPC_ABORTED`, `RPC_TIMEOUT`, `RPC_CLOSED` (criu died), `RPC_PROTOCOL`
 * @throws what `onNotify` rejected with, after CRIU has given up and cleaned up
 */
export async function callCriu(
  criu: Criu,
  request: CriuRequest,
  options: CallOptions = {},
): Promise<CriuResponse> {
  if (options.signal?.aborted) throw abortedError(options.signal.reason);
  if (request.opts !== undefined) assertOptions(request.opts);
  const swrk = await startSwrk(criu, options.start);
  const stopper = stopperFor(swrk, options);
  try {
    send(swrk, encodeRequest(request));
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
    if (packet === undefined) throw await goneError(swrk);
    const response = decodeResponse(packet.data);
    if (response.type !== criu_req_type.NOTIFY) {
      if (refused !== undefined) throw refused.reason;
      return response;
    }
    const context = { fds: packet.fds, criuPid: swrk.child.pid, signal };
    const failure = await handle(onNotify, notificationOf(response, context));
    refused ??= failure;
    if (!signal.aborted) send(swrk, encodeNotifyReply(failure === undefined));
  }
}

/** What the handler rejected with, or undefined where it did not. */
async function handle(
  onNotify: NotifyHandler,
  notification: Notification | undefined,
): Promise<{ reason: unknown } | undefined> {
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

/** A stage that this package does not know is answered with success and told to nobody. */
function notificationOf(
  { notify }: CriuResponse,
  context: Pick<Notification, "fds" | "criuPid" | "signal">,
): Notification | undefined {
  if (notify === undefined || !isStage(notify.script)) return undefined;
  const hasPid = isFieldSet(notify, criu_notifySchema.field.pid);
  return { stage: notify.script, ...(hasPid ? { pid: notify.pid } : {}), ...context };
}

/** A criu that has died is found at the next read. */
function send(swrk: Swrk, packet: Buffer): void {
  try {
    swrk.socket.send(packet);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "EPIPE" && code !== "ECONNRESET") throw error;
  }
}

async function goneError(swrk: Swrk): Promise<Error> {
  const { signal, code } = await swrk.child.exited;
  return closedError(swrk.child.pid, signal ?? `exit status ${code}`);
}

async function endOf(swrk: Swrk): Promise<void> {
  const timer = setTimeout(() => swrk.child.kill("SIGKILL"), END_TIMEOUT_MS);
  await swrk.child.exited.finally(() => clearTimeout(timer));
}
