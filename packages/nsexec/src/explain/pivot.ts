import type { MountInfo } from "../proc/mountinfo.js";
import type { Explanation } from "./types.js";

/** What a call of pivot_root(2) was given, and the mounts as its caller saw them. */
export interface PivotAttempt {
  /** Absolute, without links. */
  readonly newRoot: string;
  /** Absolute, without links. Default: the new root itself, as `pivot_root(".", ".")` has it. */
  readonly putOld?: string;
  readonly mounts: readonly MountInfo[];
}

/**
 * The real cause of pivot_root's EINVAL or EBUSY: the kernel has one number for nine (path_pivot_root in
 * fs/namespace.c; pivot_root(2), ERRORS). Undefined where the mounts show none of them.
 */
export function explainPivotRoot(attempt: PivotAttempt): Explanation | undefined {
  return CAUSES.map((cause) => cause({ putOld: attempt.newRoot, ...attempt })).find(
    (found) => found !== undefined,
  );
}

type Cause = (attempt: Required<PivotAttempt>) => Explanation | undefined;

const CAUSES: readonly Cause[] = [
  ({ mounts }) =>
    mountAt("/", mounts) === undefined
      ? {
          reason: "PIVOT_IN_CHROOT",
          hint: "The caller's own root is a plain folder (a chroot): run it in a mount namespace with pivot_root, or bind the folder onto itself before the chroot.",
        }
      : undefined,
  ({ mounts }) => {
    const root = mountAt("/", mounts);
    const first = root !== undefined && root.parentId === root.mountId;
    return first || root?.fsType === "rootfs"
      ? {
          reason: "PIVOT_ON_ROOTFS",
          hint: "The caller's root is the kernel's first filesystem (an initramfs), which cannot be moved: switch_root to another one first.",
        }
      : undefined;
  },
  ({ newRoot, mounts }) =>
    mountAt(newRoot, mounts) === undefined
      ? {
          reason: "PIVOT_NOT_A_MOUNT",
          hint: `${newRoot} is no mount point: bind it onto itself first (mount --rbind ${newRoot} ${newRoot}).`,
        }
      : undefined,
  ({ newRoot, mounts }) =>
    newRoot === "/"
      ? { reason: "PIVOT_ONTO_ITSELF", hint: "The new root is the present root: name another mount." }
      : sharedParent(newRoot, mounts),
  ({ newRoot, putOld }) =>
    `${putOld}/`.startsWith(`${newRoot}/`)
      ? undefined
      : {
          reason: "PIVOT_OLD_OUTSIDE",
          hint: `The old root's place ${putOld} must lie below the new root ${newRoot}.`,
        },
];

/** The mount of the new root's parent, that of the caller's root, and the one under the old root's place. */
function sharedParent(newRoot: string, mounts: readonly MountInfo[]): Explanation | undefined {
  const fresh = mountAt(newRoot, mounts);
  const parents = [mountAt("/", mounts), mounts.find(({ mountId }) => mountId === fresh?.parentId), fresh];
  const shared = parents.find((mount) => mount?.shared !== undefined);
  if (shared === undefined) return undefined;
  return {
    reason: "PIVOT_SHARED",
    hint: `The mount at ${shared.mountPoint} is shared with other namespaces: make all private first (mount --make-rprivate /).`,
  };
}

/** The uppermost mount at a path. */
function mountAt(path: string, mounts: readonly MountInfo[]): MountInfo | undefined {
  return mounts.filter(({ mountPoint }) => mountPoint === path).at(-1);
}
