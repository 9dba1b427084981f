import { closeSync, openSync } from "node:fs";
import { callNative, NsexecError, SyscallError } from "../errors.js";
import { LO_FLAGS, O } from "./constants.js";
import { native } from "./native.js";

/** What a loop device shows of its backing file. Byte counts; `sizeLimit` 0 means up to the end. */
export interface LoopStatus {
  readonly number: number;
  /** Device number and inode of the backing file. */
  readonly device: bigint;
  readonly inode: bigint;
  readonly offset: bigint;
  readonly sizeLimit: bigint;
  readonly readOnly: boolean;
  readonly directIo: boolean;
  readonly autoclear: boolean;
}

/** Options of {@link loopAttach}. */
export interface LoopAttachOptions {
  /** Where the device begins in the file, in bytes. Default 0. */
  readonly offset?: number | bigint;
  /** The device's length in bytes. Default 0: up to the file's end. */
  readonly sizeLimit?: number | bigint;
  /** Default true. */
  readonly readOnly?: boolean;
  /** Bypass the page cache of the backing file. Default false. */
  readonly directIo?: boolean;
  /** The device goes when its last user closes it. Default false. */
  readonly autoclear?: boolean;
}

/** A device found free may be taken by another process before we configure it. */
const ATTEMPTS = 64;

/**
 * Attaches the open file `backingFd` to a free loop device and returns it with an open descriptor,
 * which is the caller's to close (with `autoclear`, only once something else holds the device).
 * @throws NsexecError code NO_FREE_LOOP; SyscallError
 */
export function loopAttach(backingFd: number, options: LoopAttachOptions = {}): { path: string; fd: number } {
  const control = openLoopControl();
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const path = `/dev/loop${callNative(() => native().loopGetFree(control))}`;
      const fd = configureIfFree(path, backingFd, options);
      if (fd !== undefined) return { path, fd };
    }
  } finally {
    closeSync(control);
  }
  throw new NsexecError("NO_FREE_LOOP", `no loop device stayed free through ${ATTEMPTS} attempts`, {
    hint: "Detach loop devices that are no longer used (losetup -a), or raise the loop module's max_loop.",
  });
}

/** LOOP_CLR_FD. A device still mounted goes when its last user does. */
export function loopDetach(path: string): void {
  withDevice(path, (fd) => native().loopClear(fd));
}

/** LOOP_GET_STATUS64, or undefined where nothing is attached. */
export function loopStatus(path: string): LoopStatus | undefined {
  try {
    const { flags, ...status } = withDevice(path, (fd) => native().loopStatus(fd));
    return {
      ...status,
      readOnly: (flags & LO_FLAGS.READ_ONLY) !== 0,
      directIo: (flags & LO_FLAGS.DIRECT_IO) !== 0,
      autoclear: (flags & LO_FLAGS.AUTOCLEAR) !== 0,
    };
  } catch (error) {
    if (error instanceof SyscallError && error.code === "ENXIO") return undefined;
    throw error;
  }
}

function openLoopControl(): number {
  try {
    return openSync("/dev/loop-control", O.O_RDWR | O.O_CLOEXEC);
  } catch (cause) {
    throw new NsexecError("NO_FREE_LOOP", "/dev/loop-control cannot be opened", {
      path: "/dev/loop-control",
      hint: "Load the loop module (modprobe loop), or give the container /dev/loop-control and /dev/loop*.",
      cause,
    });
  }
}

function configureIfFree(path: string, backingFd: number, options: LoopAttachOptions): number | undefined {
  const { offset = 0, sizeLimit = 0, readOnly = true } = options;
  const fd = openSync(path, (readOnly ? O.O_RDONLY : O.O_RDWR) | O.O_CLOEXEC);
  try {
    callNative(() =>
      native().loopConfigure(fd, backingFd, BigInt(offset), BigInt(sizeLimit), loopFlags(options)),
    );
    return fd;
  } catch (error) {
    closeSync(fd);
    if (error instanceof SyscallError && error.code === "EBUSY") return undefined;
    throw error;
  }
}

function loopFlags({ readOnly = true, directIo = false, autoclear = false }: LoopAttachOptions): number {
  return (
    (readOnly ? LO_FLAGS.READ_ONLY : 0) |
    (directIo ? LO_FLAGS.DIRECT_IO : 0) |
    (autoclear ? LO_FLAGS.AUTOCLEAR : 0)
  );
}

function withDevice<T>(path: string, call: (fd: number) => T): T {
  const fd = openSync(path, O.O_RDONLY | O.O_CLOEXEC);
  try {
    return callNative(() => call(fd));
  } finally {
    closeSync(fd);
  }
}
