import { capabilityNames, sys } from "@drums/nsexec";
import { type TreeEntry, walkTree } from "../walk.js";

const CAPABILITY = "security.capability";
const SETUID = 0o4000n;
const SETGID = 0o2000n;

/** A file that gives its caller rights beyond the caller's own. */
export interface PrivilegedFile {
  /** Inside the root. */
  readonly path: string;
  readonly setuid: boolean;
  readonly setgid: boolean;
  /** By name, without CAP_: what the file may get (its permitted set). */
  readonly capabilities: readonly string[];
  readonly uid: number;
  readonly gid: number;
}

/**
 * Every setuid and setgid program of a root or a layer, and every one with file capabilities, in the
 * order of their paths. No link is followed, and no other file system entered.
 */
export async function auditPrivileged(root: string): Promise<PrivilegedFile[]> {
  const found: PrivilegedFile[] = [];
  for await (const entry of walkTree(root)) {
    const file = entry.stats.isFile() ? describe(entry) : undefined;
    if (file && (file.setuid || file.setgid || file.capabilities.length > 0)) found.push(file);
  }
  return found;
}

function describe({ path, host, stats }: TreeEntry): PrivilegedFile {
  return {
    path: `/${path.toString("utf8")}`,
    setuid: (stats.mode & SETUID) !== 0n,
    // Without the group's x bit it asks for mandatory locking and is no privilege.
    setgid: (stats.mode & SETGID) !== 0n && (stats.mode & 0o10n) !== 0n,
    capabilities: (stats.mode & 0o111n) === 0n ? [] : capabilitiesOf(host),
    uid: Number(stats.uid),
    gid: Number(stats.gid),
  };
}

function capabilitiesOf(host: Buffer): string[] {
  const path = host.toString("utf8");
  // The system call wrapper takes text: a name that is no UTF-8 cannot be asked about.
  if (!Buffer.from(path).equals(host) || !sys.llistxattr(path).includes(CAPABILITY)) return [];
  return capabilityNames(permittedSet(sys.lgetxattr(path, CAPABILITY)));
}

/** struct vfs_cap_data of <linux/capability.h>: a word of version, then permitted and inheritable, low words first. */
export function permittedSet(value: Buffer): bigint {
  if (value.length < 12) return 0n;
  const low = BigInt(value.readUInt32LE(4));
  return value.length < 20 ? low : low | (BigInt(value.readUInt32LE(12)) << 32n);
}
