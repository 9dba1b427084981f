import { callNative } from "../errors.js";
import type { NamespaceKind } from "../proc/namespaces.js";
import { CLONE_NEW } from "./constants.js";
import { native } from "./native.js";

/** A descriptor of ours and the number it has in the child. */
export interface FdMapping {
  readonly source: number;
  readonly target: number;
}

/** What {@link clone3Exec} takes. */
export interface CloneExecOptions {
  /** The program's path; PATH is not searched. */
  readonly file: string;
  /** All arguments, the program's own name first. */
  readonly argv: readonly string[];
  /** The whole environment; nothing is inherited. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** The child's descriptors; every other one is closed, the three standard ones too. Default: none. */
  readonly fds?: readonly FdMapping[];
  /** New namespaces for the child. Default: none. */
  readonly namespaces?: readonly NamespaceKind[];
  /** A descriptor of a cgroup2 folder that the child is born in (CLONE_INTO_CGROUP). */
  readonly cgroupFd?: number;
  readonly cwd?: string;
  /** setsid(2) before the program starts. Default false. */
  readonly newSession?: boolean;
}

/**
 * clone3(2) and execve(2). Returns after the program has started; its signal mask is empty and all
 * signals are at their defaults. The pidfd is the caller's to wait for and to close.
 * @throws SyscallError of the step that failed in the child: dup2, chdir, execve …
 */
export function clone3Exec(options: CloneExecOptions): { pid: number; pidfd: number } {
  const { file, argv, env = {}, fds = [], namespaces = [], cgroupFd, cwd, newSession = false } = options;
  const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
  // Addition, not |: CLONE_NEWNET and above would turn negative in 32 bits.
  const flags = [...new Set(namespaces)].reduce((sum, kind) => sum + CLONE_NEW[kind], 0);
  return callNative(() => native().spawn({ file, argv, env: pairs, fds, flags, cgroupFd, cwd, newSession }));
}
