import { closeSync, constants, openSync, read } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { NsexecError } from "./errors.js";
import { processGone } from "./proc/processes.js";
import { isGone, type ProcOptions } from "./proc/read.js";
import { readStartTime } from "./proc/stat.js";
import { type ReadLimit, readBounded } from "./session-read.js";
import {
  assertKind,
  assertPlainFilesystem,
  descriptorPath,
  type FileKind,
  type FollowOption,
  type Resolved,
  withResolved,
} from "./session-resolve.js";
import { O } from "./syscalls/constants.js";
import { readlinkat } from "./syscalls/file.js";
import { type ConnectOptions, connectUnix, peerCredentials } from "./syscalls/socket.js";

const DEFAULT_MAX_ENTRIES = 10_000;

/** Facts of a file; ids as the host sees them. */
export interface SessionStat {
  readonly device: bigint;
  readonly inode: bigint;
  /** In bytes. */
  readonly size: bigint;
  /** Permission bits, without the kind. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly kind: FileKind;
}

/** Options of {@link SessionRoot.readFile}. */
export type ReadFileOptions = FollowOption & ReadLimit;

/** Options of {@link SessionRoot.connect}. */
export interface SessionConnectOptions extends ConnectOptions, FollowOption {
  /** The host uids that the far end may have: `count` of them from `first` on. Default: any. */
  readonly peerUids?: { readonly first: number; readonly count: number };
}

/** Which process's root to open. */
export interface SessionRootTarget extends ProcOptions {
  /** As the host sees it. */
  readonly pid: number;
  /** Clock ticks since boot: refuses a process that merely has the same pid. */
  readonly startTime?: bigint;
}

/**
 * Opens the root of a running process, commonly a session's init, in its own mount namespace.
 * It is held until closed, and with it the session's mounts: close it before taking them down.
 * @throws NsexecError code PROCESS_GONE
 */
export async function openSessionRoot(target: SessionRootTarget): Promise<SessionRoot> {
  const { pid, startTime, proc = "/proc" } = target;
  try {
    const root = new SessionRoot(openSync(`${proc}/${pid}/root`, O.O_PATH | O.O_DIRECTORY | O.O_CLOEXEC));
    // Asked after the open: if the pid is still that process's now, what was opened is its root.
    if (startTime === undefined || (await hasStartTime(target))) return root;
    root.close();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  throw processGone(pid);
}

async function hasStartTime({ pid, startTime, proc = "/proc" }: SessionRootTarget): Promise<boolean> {
  try {
    return (await readStartTime(pid, { proc })) === startTime;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Opens a folder of the host as a root, for what is mounted there and is trusted no more than a session. */
export function openFolderRoot(path: string): SessionRoot {
  return new SessionRoot(openSync(path, O.O_PATH | O.O_DIRECTORY | O.O_CLOEXEC));
}

/**
 * The host's only door to a session's paths. The session is hostile ground: it may link, replace
 * and grow its files at any moment. Every path is resolved inside the root from a held descriptor,
 * looked at before it is opened, and read without blocking and up to a cap. Nothing is ever written.
 */
export class SessionRoot {
  readonly #fd: number;
  #open = true;

  /** Takes ownership of an O_PATH descriptor of a folder. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The held descriptor. @throws NsexecError code ROOT_CLOSED */
  get fd(): number {
    if (this.#open) return this.#fd;
    throw new NsexecError("ROOT_CLOSED", "the session's root has been closed on this side");
  }

  /**
   * Reads a regular file.
   * @throws NsexecError code WRONG_KIND, REFUSED_FILESYSTEM, FILE_TOO_LARGE; SyscallError
   */
  readFile(path: string, options: ReadFileOptions = {}): Promise<Buffer> {
    return this.#resolve(path, options, async (resolved) => {
      assertReadable(resolved, path);
      // Without waiting (no device, no FIFO, O_NONBLOCK against leases), so without a hop to a thread: the read has one.
      const fd = openSync(descriptorPath(resolved), READ_FLAGS);
      try {
        const file = { read: readAt.bind(undefined, fd) };
        return await readBounded(file, path, { ...options, size: Number(resolved.stats.size) });
      } finally {
        closeSync(fd);
      }
    });
  }

  /** Opens a regular file for reading; the handle is the caller's to close, and its size may change. */
  openRegular(path: string, options: FollowOption = {}): Promise<FileHandle> {
    return this.#resolve(path, options, (resolved) => {
      assertReadable(resolved, path);
      return open(descriptorPath(resolved), READ_FLAGS);
    });
  }

  /** Facts of a file of any kind, without opening it. */
  stat(path: string, options: FollowOption = {}): Promise<SessionStat> {
    return this.#resolve(path, options, ({ stats, kind }) => ({
      device: stats.dev,
      inode: stats.ino,
      size: stats.size,
      mode: Number(stats.mode) & 0o7777,
      uid: Number(stats.uid),
      gid: Number(stats.gid),
      kind,
    }));
  }

  /** Where a link says it leads. The text is the session's: resolve it only through this class. */
  readLink(path: string): Promise<string> {
    return this.#resolve(path, {}, (resolved) => {
      assertKind(resolved, "link", path);
      return readlinkat(resolved.fd).toString("utf8");
    });
  }

  /** The names in a folder, sorted. @throws NsexecError code TOO_MANY_ENTRIES above `maxEntries` (10 000) */
  list(path: string, options: FollowOption & { readonly maxEntries?: number } = {}): Promise<string[]> {
    const { maxEntries = DEFAULT_MAX_ENTRIES } = options;
    return this.#resolve(path, options, async (resolved) => {
      assertKind(resolved, "folder", path);
      assertPlainFilesystem(resolved, path);
      const names: string[] = [];
      for await (const entry of await opendir(descriptorPath(resolved))) {
        if (names.length === maxEntries) throw tooManyEntries(path, maxEntries);
        names.push(entry.name);
      }
      return names.sort();
    });
  }

  /**
   * Connects to a socket and returns its descriptor, non-blocking, the caller's to close.
   * @throws NsexecError code WRONG_KIND, WRONG_PEER; SyscallError ECONNREFUSED, EAGAIN …
   */
  connect(path: string, options: SessionConnectOptions = {}): Promise<number> {
    return this.#resolve(path, options, (resolved) => {
      assertKind(resolved, "socket", path);
      const fd = connectUnix(descriptorPath(resolved), options);
      try {
        assertPeer(fd, path, options.peerUids);
        return fd;
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    });
  }

  /** Connects to a stream socket as one of Node's own sockets. Throws as {@link connect} does. */
  async connectStream(path: string, options: Omit<SessionConnectOptions, "type"> = {}): Promise<Socket> {
    const fd = await this.connect(path, { ...options, type: "stream" });
    return new Socket({ fd, readable: true, writable: true });
  }

  /** Lets the session's root go. Safe to call twice. */
  close(): void {
    if (this.#open) closeSync(this.#fd);
    this.#open = false;
  }

  async #resolve<T>(
    path: string,
    options: FollowOption,
    use: (resolved: Resolved) => Promise<T> | T,
  ): Promise<T> {
    return withResolved(this.fd, path, options, use);
  }
}

const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

const readAt = promisify(read);

function assertReadable(resolved: Resolved, path: string): void {
  assertKind(resolved, "regular", path);
  assertPlainFilesystem(resolved, path);
}

function assertPeer(fd: number, path: string, allowed: SessionConnectOptions["peerUids"]): void {
  if (allowed === undefined) return;
  const { uid, pid } = peerCredentials(fd);
  if (uid >= allowed.first && uid < allowed.first + allowed.count) return;
  throw new NsexecError("WRONG_PEER", `${path} in the session is answered by uid ${uid} (process ${pid})`, {
    path,
    hint: "The socket leads out of the session: take the session for compromised.",
  });
}

function tooManyEntries(path: string, maxEntries: number): NsexecError {
  return new NsexecError("TOO_MANY_ENTRIES", `${path} in the session has more than ${maxEntries} entries`, {
    path,
    hint: "Raise maxEntries.",
  });
}
