import { readdirSync, statfsSync } from "node:fs";
import type { MountInfo } from "@drums/nsexec/proc";
import { inMount, type MountsOf } from "./inside.js";
import { type Finding, finding } from "./rules.js";

/**
 * Kinds of filesystem that CRIU knows: those that passed dump and restore, with those that show or change the host's
 * own state, and those that it leaves out in silence or looks for in the wrong place.
 */
const KNOWN: Readonly<Record<string, "own" | "host" | "dropped" | "nested">> = {
  proc: "own",
  tmpfs: "own",
  devpts: "own",
  mqueue: "own",
  overlay: "nested",
  sysfs: "host",
  devtmpfs: "host",
  binfmt_misc: "host",
  tracefs: "dropped",
  debugfs: "host",
  securityfs: "host",
  pstore: "host",
  fusectl: "host",
  cgroup: "host",
  cgroup2: "host",
};

/** Options of the mount checks. */
export interface MountCheckOptions {
  /** Mount points that the dump names as externals. */
  readonly externals: readonly string[];
}

/** Checks one mount table: kinds, roots, propagation, an overmounted root. */
export function checkMounts(mounts: readonly MountInfo[], { externals }: MountCheckOptions): Finding[] {
  const root = rootOf(mounts);
  const shared = new Set(mounts.map((mount) => mount.shared));
  return mounts.flatMap((mount) => {
    const object = `${mount.mountPoint} (${mount.fsType})`;
    const findings: Finding[] = [];
    if (mount !== root && !externals.includes(mount.mountPoint))
      findings.push(...checkKind(mount, object, mounts));
    if (mount !== root && mount.mountPoint === "/") findings.push(finding("mount-overmounted-root", object));
    if (mount.master !== undefined && !shared.has(mount.master))
      findings.push(finding("mount-propagation", object));
    return findings;
  });
}

/** CRIU takes a namespace's root of any kind; every other mount must be one it can make again. */
function checkKind(mount: MountInfo, object: string, mounts: readonly MountInfo[]): Finding[] {
  if (mount.fsType === "nsfs") return [finding("mount-nsfs", object)];
  if (!hasRootMount(mount, mounts)) return [finding("mount-external", object)];
  if (/^fuse(\.|blk|$)/.test(mount.fsType)) return [finding("mount-fuse", object)];
  const kind = KNOWN[mount.fsType];
  if (kind === undefined || kind === "nested")
    return hasSupportedRoot(mount, mounts)
      ? []
      : [finding(kind === undefined ? "mount-unsupported" : "mount-overlay", object)];
  if (kind === "dropped") return [finding("mount-dropped", object)];
  return kind === "host" && isWritable(mount) ? [finding("mount-host-view", object)] : [];
}

/** criu/mount.c, validate_mounts: a bind passes where the same filesystem's root, or a folder above, is mounted too. */
function hasRootMount(mount: MountInfo, mounts: readonly MountInfo[]): boolean {
  if (mount.root === "/") return true;
  return mounts.some(
    (other) => other !== mount && sameDevice(mount, other) && contains(other.root, mount.root),
  );
}

/** A bind of part of the root filesystem is made from the root again, whatever kind it is. */
function hasSupportedRoot(mount: MountInfo, mounts: readonly MountInfo[]): boolean {
  const root = rootOf(mounts);
  return root !== undefined && sameDevice(mount, root) && contains(root.root, mount.root);
}

/** The mount whose parent is not in the table. */
function rootOf(mounts: readonly MountInfo[]): MountInfo | undefined {
  const ids = new Set(mounts.map(({ mountId }) => mountId));
  return mounts.find(({ parentId, mountId }) => !ids.has(parentId) || parentId === mountId);
}

function sameDevice(a: MountInfo, b: MountInfo): boolean {
  return a.major === b.major && a.minor === b.minor;
}

function contains(folder: string, path: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

function isWritable({ options, superOptions }: MountInfo): boolean {
  return !options.includes("ro") && !superOptions.includes("ro");
}

/** criu/filesystems.c: "mqueue isn't empty". */
export function checkQueues(mounts: readonly MountInfo[], of: MountsOf): Finding[] {
  return mounts
    .filter(({ fsType }) => fsType === "mqueue")
    .flatMap((mount) =>
      (inMount(mount, of, (path) => readdirSync(path)) ?? []).map((name) =>
        finding("mqueue-content", `${mount.mountPoint}/${name}`),
      ),
    );
}

/** Data in a tmpfs above this is reported. */
const MUCH_TMPFS_BYTES = 64 * 1024 * 1024;

/** How much a session's tmpfs mounts hold together, and a finding for each that holds much. */
export function checkTmpfs(
  mounts: readonly MountInfo[],
  { externals, ...of }: MountsOf & { readonly externals: readonly string[] },
): { bytes: number; findings: Finding[] } {
  const findings: Finding[] = [];
  let bytes = 0;
  for (const mount of mounts) {
    if (mount.fsType !== "tmpfs" || mount.root !== "/" || externals.includes(mount.mountPoint)) continue;
    const used = inMount(mount, of, usedBytes) ?? 0;
    bytes += used;
    if (used > MUCH_TMPFS_BYTES)
      findings.push(finding("tmpfs-bytes", `${mount.mountPoint}: ${Math.round(used / 1048576)} MiB`));
  }
  return { bytes, findings };
}

function usedBytes(path: string): number {
  const { bsize, blocks, bfree } = statfsSync(path);
  return bsize * (blocks - bfree);
}
