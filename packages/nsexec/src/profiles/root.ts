import { join } from "node:path";
import { NsexecError } from "../errors.js";
import type { IdMap, MountStep } from "../plan/schema.js";

/** A read-only folder of the overlay. */
export interface Lower {
  readonly path: string;
  /**
   * Its owners on disk are those of an ordinary root, so it is shifted where a session is. False for what
   * is shifted already: the upper of a dumped session.
   */
  readonly idmap: boolean;
}

/** What a session's root is made of. */
export interface RootOptions {
  /** Top first, as overlayfs takes them. */
  readonly lowers: readonly Lower[];
  readonly upper: string;
  readonly work: string;
  /**
   * An empty folder of the session's on the host. A tmpfs is mounted on it, in the private mount namespace
   * only, and holds the mount points: `root`, `dev`, `layers/N`.
   */
  readonly scratch: string;
  /** First host id of a shifted session; upper and work belong to it. Default 0x40000000. */
  readonly idBase?: number;
}

/** The merged root among the host mounts: a tmpfs for mount points, shifted layers, the overlay. */
export function rootMounts(options: RootOptions, idMap?: IdMap): { hostMounts: MountStep[]; root: string } {
  const { lowers, upper, work, scratch } = options;
  const root = join(scratch, "root");
  const stacked = lowers.map((lower, index) => ({
    source: lower.path,
    path: idMap && lower.idmap ? join(scratch, "layers", String(index)) : lower.path,
  }));
  const owner = idMap ? { uid: idMap.base, gid: idMap.base } : {};
  return {
    root,
    hostMounts: [
      {
        kind: "mount",
        fsType: "tmpfs",
        source: "drums",
        target: scratch,
        options: ["nosuid"],
        data: "mode=755,size=1m",
      },
      { kind: "folder", path: root, ...owner },
      ...stacked
        .filter(({ source, path }) => source !== path)
        .flatMap(({ source, path }) => shifted(source, path)),
      {
        kind: "mount",
        fsType: "overlay",
        source: "overlay",
        target: root,
        options: ["nodev"],
        data: overlayData(
          stacked.map(({ path }) => path),
          upper,
          work,
        ),
      },
    ],
  };
}

function shifted(source: string, target: string): MountStep[] {
  return [
    { kind: "folder", path: target },
    { kind: "layer", source, target },
  ];
}

/**
 * index and nfs_export make file handles decodable, without which CRIU cannot dump inotify watches
 * (kernel: Documentation/filesystems/overlayfs.rst, "NFS export").
 */
function overlayData(lowers: readonly string[], upper: string, work: string): string {
  const paths = [...lowers, upper, work];
  const odd = paths.find((path) => /[\\,:"]/.test(path));
  if (odd !== undefined)
    throw new NsexecError("PLAN_INVALID", `overlayfs options cannot hold this path: ${odd}`, {
      path: odd,
      step: "plan",
      hint: "Use folders without comma, colon, quote and backslash in their names.",
    });
  return `lowerdir=${lowers.join(":")},upperdir=${upper},workdir=${work},index=on,nfs_export=on`;
}
