import { access } from "node:fs/promises";

/** One finding of {@link preflight}; a gap or a blocker always has a remedy. */
export interface PreflightItem {
  readonly name: string;
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  readonly remedy?: string;
}

/** Options of {@link preflight}. */
export interface PreflightOptions {
  /** Whether a path is there; default on this machine. For an image it is resolved inside the image's root. */
  readonly exists?: (path: string) => Promise<boolean>;
  /** Whether a bus is to be started from there, so that what is missing is a blocker; default false. */
  readonly required?: boolean;
  /** Default `/usr/bin/dbus-daemon`. */
  readonly daemon?: string;
}

/** The system bus's configuration: since dbus 1.10, and before. */
const CONFIG_PATHS = ["/usr/share/dbus-1/system.conf", "/etc/dbus-1/system.conf"];

/**
 * Says whether a system bus can be started: its daemon, its configuration. By default it looks at this machine,
 * where neither is needed for sessions (they use the image's own) and so missing ones are gaps.
 */
export async function preflight(options: PreflightOptions = {}): Promise<PreflightItem[]> {
  const { exists = existsHere, required = false, daemon = "/usr/bin/dbus-daemon" } = options;
  const status = required ? "blocker" : "gap";
  const config = await firstThere(CONFIG_PATHS, exists);
  return [
    (await exists(daemon))
      ? { name: "dbus-daemon", status: "ok", detail: daemon }
      : { name: "dbus-daemon", status, detail: `there is no ${daemon}`, remedy: "install dbus-daemon" },
    config !== undefined
      ? { name: "system bus configuration", status: "ok", detail: config }
      : {
          name: "system bus configuration",
          status,
          detail: `there is none of ${CONFIG_PATHS.join(", ")}`,
          remedy: "install dbus (dbus-system-bus-common on Debian)",
        },
  ];
}

/**
 * The main configuration of the system bus: the first of the standard paths that is there.
 *
 * @param exists whether a path is there; default on this machine
 */
export function findSystemConfig(
  exists: (path: string) => Promise<boolean> = existsHere,
): Promise<string | undefined> {
  return firstThere(CONFIG_PATHS, exists);
}

async function firstThere(
  paths: readonly string[],
  exists: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const path of paths) if (await exists(path)) return path;
  return undefined;
}

function existsHere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
