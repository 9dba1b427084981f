import { createRequire } from "node:module";
import { NsexecError } from "../errors.js";
import { packageRoot } from "../package-root.js";

/** The addon's functions as C++ exports them; the wrappers beside this file are what others call. */
export interface Native {
  mount(
    source: string | undefined,
    target: string,
    fsType: string | undefined,
    flags: number,
    data?: string,
  ): void;
  umount2(target: string, flags: number): void;
  openTree(dirfd: number, path: string, flags: number): number;
  moveMount(fromFd: number, fromPath: string, toFd: number, toPath: string, flags: number): void;
  mountSetattr(
    dirfd: number,
    path: string,
    flags: number,
    set: number,
    clear: number,
    propagation: number,
    usernsFd: number,
  ): void;
  openat2(dirfd: number, path: string, flags: number, mode: number, resolve: number): number;
  readlinkat(dirfd: number, path: string): Buffer;
  mknod(path: string, mode: number, device: number): void;
  flock(fd: number, operation: number): void;
  getxattr(path: string, name: string): Buffer;
  lgetxattr(path: string, name: string): Buffer;
  lsetxattr(path: string, name: string, value: Buffer, flags: number): void;
  llistxattr(path: string): Buffer;
  setHostnameIn(utsFd: number, name: string): void;
  setLinkUpIn(netFd: number, name: string): void;
  pidfdOpen(pid: number): number;
  pidfdSendSignal(pidfd: number, signal: number): void;
  waitidPidfd(pidfd: number): { pid: number; exited: boolean; status: number } | null;
  socketpair(type: number): [number, number];
  connectUnix(path: string, type: number, uid?: number, gid?: number): number;
  peerCredentials(fd: number): { pid: number; uid: number; gid: number };
  sendPacket(fd: number, data: Buffer, fds: readonly number[]): void;
  receivePacket(fd: number, maxBytes: number): { data: Buffer; fds: number[] } | null;
  loopGetFree(controlFd: number): number;
  loopConfigure(fd: number, backingFd: number, offset: bigint, sizeLimit: bigint, flags: number): void;
  loopClear(fd: number): void;
  loopStatus(fd: number): NativeLoopStatus;
  spawn(options: NativeSpawnOptions): { pid: number; pidfd: number };
  Watch: new (fd: number, onReadable: () => void) => NativeWatch;
}

export interface NativeLoopStatus {
  readonly number: number;
  readonly device: bigint;
  readonly inode: bigint;
  readonly offset: bigint;
  readonly sizeLimit: bigint;
  readonly flags: number;
}

export interface NativeSpawnOptions {
  readonly file: string;
  readonly argv: readonly string[];
  readonly env: readonly string[];
  readonly fds: readonly { readonly source: number; readonly target: number }[];
  readonly flags: number;
  readonly cgroupFd: number | undefined;
  readonly cwd: string | undefined;
  readonly newSession: boolean;
}

export interface NativeWatch {
  close(): void;
  ref(): void;
  unref(): void;
}

let loaded: Native | undefined;

/** Loads the addon at the first call, so that importing the package works where it was not built. */
export function native(): Native {
  loaded ??= load();
  return loaded;
}

function load(): Native {
  const root = packageRoot();
  const loadAddon = createRequire(import.meta.url)("node-gyp-build") as (folder: string) => Native;
  try {
    return loadAddon(root);
  } catch (cause) {
    throw new NsexecError("ADDON_MISSING", `the native addon of @drums/nsexec does not load from ${root}`, {
      path: root,
      hint: "Build it: bash native/build.sh in that folder (needs a C++ compiler, make and python3).",
      cause,
    });
  }
}
