import { setTimeout as sleep } from "node:timers/promises";
import { DbusError } from "./errors.js";
import { type ConnectBus, openBus } from "./wire/connection.js";

/** What {@link busCommand} is given. */
export interface BusCommandSpec {
  /** The written configuration, as the daemon sees it. */
  readonly configPath: string;
  /** The daemon's program; default `/usr/bin/dbus-daemon`. */
  readonly file?: string;
}

/**
 * The argv of a dbus-daemon in the foreground that logs to its standard error. Nothing in it activates.
 * The options are those of dbus-daemon 1.10 and newer (dbus-daemon(1)).
 */
export function busCommand({ configPath, file = "/usr/bin/dbus-daemon" }: BusCommandSpec): string[] {
  return [file, `--config-file=${configPath}`, "--nofork", "--nopidfile", "--nosyslog"];
}

/** Options of {@link waitForBus}. */
export interface WaitForBusOptions {
  /** In all, in milliseconds; default 10000. */
  readonly timeoutMs?: number;
  /** Between two attempts, in milliseconds; default 5. */
  readonly intervalMs?: number;
  /** The user to be, as the bus sees it; default whoever the kernel says we are. */
  readonly uid?: number;
  /** Ends the wait early with its own reason. */
  readonly signal?: AbortSignal;
}

/**
 * Waits until a bus answers: connected, authenticated, greeted. A socket that is there is not enough, as it is
 * there before the daemon reads from it.
 *
 * @returns how many attempts it took, and the server's GUID
 * @throws DbusError `NOT_READY`, with the last attempt's error as cause; at once what does not mend itself by
 *   waiting (`AUTH_REFUSED`, `PROTOCOL`)
 */
export async function waitForBus(
  connect: ConnectBus,
  options: WaitForBusOptions = {},
): Promise<{ readonly attempts: number; readonly serverGuid: string }> {
  const { timeoutMs = 10_000, intervalMs = 5, signal } = options;
  const deadline = performance.now() + timeoutMs;
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    try {
      const left = Math.max(1, deadline - performance.now());
      const bus = await openBus(connect, { ...options, timeoutMs: left });
      bus.close();
      return { attempts, serverGuid: bus.serverGuid };
    } catch (error) {
      if (error instanceof DbusError && (error.code === "AUTH_REFUSED" || error.code === "PROTOCOL"))
        throw error;
      if (performance.now() + intervalMs >= deadline) throw notReady(timeoutMs, attempts, error);
      await sleep(intervalMs);
    }
  }
}

function notReady(timeoutMs: number, attempts: number, cause: unknown): DbusError {
  const last = cause instanceof Error ? cause.message : String(cause);
  return new DbusError(
    "NOT_READY",
    `no bus answered within ${timeoutMs} ms (${attempts} attempts): ${last}`,
    {
      hint: "read the daemon's log for why it did not start",
      cause,
    },
  );
}
