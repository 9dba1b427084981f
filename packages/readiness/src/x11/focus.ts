import { setTimeout as sleep } from "node:timers/promises";
import { ReadinessError } from "../errors.js";
import type { XSession } from "./connection.js";
import { getInputFocus, getProperty, queryTree, sendClientMessage, setInputFocus } from "./requests.js";

export interface FocusOptions {
  /** How long the window manager may take. Default 2000 ms. */
  readonly timeoutMs?: number;
}

/** EWMH's source indication of a pager: an order of the user's, which focus stealing prevention lets pass. */
const FROM_PAGER = 2;
const POLL_MS = 10;
/** Focus may lie on a child of the window (GTK, LibreOffice); deeper trees are no real program's. */
const MAX_DEPTH = 16;

/**
 * Gives a window the keyboard: asks the window manager (_NET_ACTIVE_WINDOW), or without one sets the
 * focus itself, then waits until the server says that keys go there. Throws FOCUS_REFUSED in time.
 */
export async function focusWindow(x: XSession, window: number, options: FocusOptions = {}): Promise<void> {
  const { timeoutMs = 2_000 } = options;
  const deadline = performance.now() + timeoutMs;
  if (await hasFocus(x, window)) return;
  await requestFocus(x, window);
  while (!(await hasFocus(x, window))) {
    if (performance.now() > deadline) throw await refused(x, window, timeoutMs);
    await sleep(POLL_MS);
  }
}

async function requestFocus(x: XSession, window: number): Promise<void> {
  const { root } = x.setup;
  const [check, active] = await Promise.all([
    x.atom("_NET_SUPPORTING_WM_CHECK"),
    x.atom("_NET_ACTIVE_WINDOW"),
  ]);
  const manager = check === 0 ? undefined : await x.ask(getProperty(root, check, 4));
  const isManaged = active !== 0 && manager !== undefined && manager.type !== 0;
  const order = isManaged ? sendClientMessage(root, window, active, [FROM_PAGER]) : setInputFocus(window);
  await x.command(order, { confirm: true }).catch((cause) => {
    if (cause instanceof ReadinessError && cause.code === "X_ERROR") throw noWindow(window, cause);
    throw cause;
  });
}

/** True when the focused window is this one or lies inside it. */
async function hasFocus(x: XSession, window: number): Promise<boolean> {
  let at = await x.call(getInputFocus());
  for (let depth = 0; depth < MAX_DEPTH && at > 1; depth++) {
    if (at === window) return true;
    at = (await x.ask(queryTree(at)))?.parent ?? 0;
  }
  return false;
}

async function refused(x: XSession, window: number, timeoutMs: number): Promise<ReadinessError> {
  const holder = await x.call(getInputFocus());
  return new ReadinessError(
    "FOCUS_REFUSED",
    `window 0x${window.toString(16)} did not get the focus within ${timeoutMs} ms; 0x${holder.toString(16)} has it`,
    { hint: "leave the Overview (GNOME), close a modal dialog, or look whether the window is still there" },
  );
}

function noWindow(window: number, cause: ReadinessError): ReadinessError {
  return new ReadinessError("FOCUS_REFUSED", `window 0x${window.toString(16)} cannot take the focus`, {
    hint: "it is gone or not mapped: gather the facts again",
    cause,
  });
}
