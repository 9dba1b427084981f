import { stat } from "node:fs/promises";
import { DbusError } from "./errors.js";

/**
 * Which socket a bus listens on: device and inode. Never the inode alone: each tmpfs counts its inodes anew, so
 * that two sessions' sockets often have the same one. Nor the bus's GUID: siblings of a checkpoint share it.
 */
export interface BusIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

/** The identity from a stat of the socket, made through the session's root. */
export function busIdentity(stats: {
  readonly device: bigint | number;
  readonly inode: bigint | number;
}): BusIdentity {
  return { device: BigInt(stats.device), inode: BigInt(stats.inode) };
}

/** Whether two identities are of one socket. */
export function sameBus(one: BusIdentity, other: BusIdentity): boolean {
  return one.device === other.device && one.inode === other.inode;
}

/** A bus with a name for reports. */
export interface NamedBus {
  readonly name: string;
  readonly identity: BusIdentity;
}

/** The pairs of names that share a bus; none when every one has its own. */
export function sharedBuses(buses: readonly NamedBus[]): [string, string][] {
  return buses.flatMap((one, index) =>
    buses
      .slice(index + 1)
      .filter((other) => sameBus(one.identity, other.identity))
      .map((other): [string, string] => [one.name, other.name]),
  );
}

/** As mountinfo and ls write it: `MAJOR:MINOR/INODE`, such as `0:62/7`. */
export function formatIdentity({ device, inode }: BusIdentity): string {
  // The kernel's new_encode_dev: 12 bits of major between the low 8 and the high 12 bits of minor.
  const major = (device >> 8n) & 0xfffn;
  const minor = (device & 0xffn) | ((device >> 12n) & 0xfff00n);
  return `${major}:${minor}/${inode}`;
}

/** The host's own bus at one moment; undefined identity where there is none. */
export interface HostBus {
  readonly path: string;
  readonly identity?: BusIdentity;
}

/** Where a system bus listens by default. */
const HOST_BUS_PATH = "/run/dbus/system_bus_socket";

/**
 * Looks at the host's own system bus socket, to be compared later.
 *
 * @throws DbusError `NOT_A_SOCKET`
 */
export async function readHostBus(path = HOST_BUS_PATH): Promise<HostBus> {
  try {
    const stats = await stat(path, { bigint: true });
    if (!stats.isSocket()) throw notASocket(path);
    return { path, identity: { device: stats.dev, inode: stats.ino } };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { path };
    throw error;
  }
}

/** Whether the host's bus is the one it was, and none of the given ones. */
export async function checkHostBus(
  before: HostBus,
  options: { readonly others?: readonly NamedBus[] } = {},
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const now = await readHostBus(before.path);
  const shared = (options.others ?? []).find(
    ({ identity }) => now.identity !== undefined && sameBus(identity, now.identity),
  );
  if (shared !== undefined)
    return { ok: false, detail: `${shared.name} has the host's own bus ${before.path}` };
  if (said(before) === said(now)) return { ok: true, detail: `${before.path} is unchanged: ${said(now)}` };
  return { ok: false, detail: `${before.path} was ${said(before)} and is ${said(now)}` };
}

function said({ identity }: HostBus): string {
  return identity === undefined ? "not there" : formatIdentity(identity);
}

function notASocket(path: string): DbusError {
  return new DbusError("NOT_A_SOCKET", `${path} is not a socket`, { hint: "give the bus's socket", path });
}
