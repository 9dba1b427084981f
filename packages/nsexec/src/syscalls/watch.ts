import { callNative } from "../errors.js";
import { native } from "./native.js";

/** A running watch. It keeps the process alive until closed or unreferenced. */
export interface Watch {
  /** Ends the watch; call it before closing the descriptor. Safe to call twice. */
  close(): void;
  ref(): void;
  unref(): void;
}

/**
 * Calls back on Node's loop whenever `fd` is readable or its peer has gone, until closed.
 * Level-triggered: it calls again while what is there has not been read. One watch a descriptor.
 * Sets O_NONBLOCK on the open file description, as libuv does.
 * @throws SyscallError code EPERM for what cannot be polled (a regular file)
 */
export function watchFd(fd: number, onReadable: () => void): Watch {
  return callNative(() => new (native().Watch)(fd, onReadable));
}
