import { callNative } from "../errors.js";
import { AT_FDCWD } from "./constants.js";
import { native } from "./native.js";

/** What mount(2) takes besides the target. */
export interface MountOptions {
  readonly source?: string;
  readonly fsType?: string;
  /** MS flags, default 0. */
  readonly flags?: number;
  /** The filesystem's own options, at most a page. */
  readonly data?: string;
}

/** mount(2) in the caller's own mount namespace. @throws SyscallError */
export function mount(target: string, options: MountOptions = {}): void {
  const { source, fsType, flags = 0, data } = options;
  callNative(() => native().mount(source, target, fsType, flags, data));
}

/** umount2(2) with MNT flags. @throws SyscallError */
export function umount2(target: string, flags = 0): void {
  callNative(() => native().umount2(target, flags));
}

/** open_tree(2), close-on-exec: a descriptor of a mount, or of a detached copy with OPEN_TREE_CLONE. */
export function openTree(path: string, { dirfd = AT_FDCWD, flags = 0 } = {}): number {
  return callNative(() => native().openTree(dirfd, path, flags));
}

/** move_mount(2). An empty path with the EMPTY_PATH flag means the descriptor itself. */
export function moveMount(
  from: { readonly fd?: number; readonly path?: string },
  to: { readonly fd?: number; readonly path?: string },
  flags = 0,
): void {
  callNative(() =>
    native().moveMount(from.fd ?? AT_FDCWD, from.path ?? "", to.fd ?? AT_FDCWD, to.path ?? "", flags),
  );
}

/** What mount_setattr(2) changes; `usernsFd` is for MOUNT_ATTR.IDMAP. */
export interface MountAttributes {
  readonly dirfd?: number;
  readonly flags?: number;
  readonly set?: number;
  readonly clear?: number;
  readonly propagation?: number;
  readonly usernsFd?: number;
}

/** mount_setattr(2). @throws SyscallError */
export function mountSetattr(path: string, attributes: MountAttributes): void {
  const { dirfd = AT_FDCWD, flags = 0, set = 0, clear = 0, propagation = 0, usernsFd = 0 } = attributes;
  callNative(() => native().mountSetattr(dirfd, path, flags, set, clear, propagation, usernsFd));
}
