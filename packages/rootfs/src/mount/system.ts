import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { access, constants, mkdir, open, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { exists, writeAtomically } from "../files.js";

const PROGRAM_TIMEOUT_MS = 30_000;
const POLL_MS = 5;

export interface LoopRequest {
  /** The file or block device behind it. */
  readonly file: string;
  readonly offset: number;
  readonly bytes: number;
  readonly readOnly: boolean;
}

/** A loop device that lives as long as it is mounted, or as `close` was not called. */
export interface LoopDevice {
  readonly device: string;
  close(): void;
}

/**
 * Everything by which this package changes the machine. Tests put a fake in its place: one without
 * free loops, one that stops dead after the third call.
 */
export interface RootSystem {
  makeFolder(path: string): Promise<void>;
  /** rmdir(2): fails on what is not empty, so it cannot remove the content of something mounted. */
  removeFolder(path: string): Promise<void>;
  makeFile(path: string): Promise<void>;
  writeRecord(path: string, content: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  onPath(program: string): Promise<boolean>;
  /** Runs a short program to its end; rejects, with its stderr, for an exit status not in `succeeds` (default 0). */
  run(
    file: string,
    argv: readonly string[],
    options?: { readonly succeeds: readonly number[] },
  ): Promise<void>;
  /**
   * Starts a program that stays in the foreground, in a session of its own, its words going to `log`: it outlives
   * this process. Resolves when it has written `pidFile`; rejects, with its words as `stderr`, when it ends before.
   */
  startDetached(
    file: string,
    argv: readonly string[],
    files: { readonly pidFile: string; readonly log: string },
  ): Promise<void>;
  writeSysfs(path: string, text: string): Promise<void>;
  attachLoop(request: LoopRequest): Promise<LoopDevice>;
  detachLoop(device: string): Promise<void>;
  mount(target: string, options: sys.MountOptions): Promise<void>;
  unmount(target: string, flags: number): Promise<void>;
  /** SIGTERM, and SIGKILL after `graceMs`; resolves when the process has ended. */
  endProcess(pid: number, graceMs: number): Promise<void>;
}

export const realSystem: RootSystem = {
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: 0o700 });
  },
  removeFolder: rmdir,
  makeFile: async (path) => (await open(path, "w", 0o600)).close(),
  writeRecord: writeAtomically,
  removeFile: (path) => rm(path, { force: true }),
  exists,
  onPath: isOnPath,
  run,
  startDetached,
  writeSysfs: async (path, text) => writeFile(path, text),
  attachLoop,
  detachLoop: async (device) => sys.loopDetach(device),
  mount: async (target, options) => sys.mount(target, options),
  unmount: async (target, flags) => sys.umount2(target, flags),
  endProcess,
};

async function run(
  file: string,
  argv: readonly string[],
  { succeeds }: { readonly succeeds: readonly number[] } = { succeeds: [0] },
): Promise<void> {
  const options = { timeout: PROGRAM_TIMEOUT_MS, stdin: "ignore", env: programEnvironment() } as const;
  try {
    await execa(file, argv, options);
  } catch (error) {
    const { exitCode } = error as { exitCode?: number };
    if (exitCode === undefined || !succeeds.includes(exitCode)) throw error;
  }
}

async function startDetached(
  file: string,
  argv: readonly string[],
  { pidFile, log }: { readonly pidFile: string; readonly log: string },
): Promise<void> {
  const output = openSync(log, "w", 0o600);
  const stdio: StdioOptions = ["ignore", output, output];
  const child = spawn(file, argv, { stdio, detached: true, env: programEnvironment() });
  closeSync(output);
  child.unref();
  let failure: unknown;
  child.once("error", (error) => {
    failure = error;
  });
  const deadline = performance.now() + PROGRAM_TIMEOUT_MS;
  while (!(await hasContent(pidFile))) {
    if (failure !== undefined) throw failure;
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (ended || performance.now() > deadline)
      throw Object.assign(new Error(`${file} ${ended ? "ended" : "does not serve"}`), {
        stderr: await readFile(log, "utf8").catch(() => ""),
      });
    await sleep(POLL_MS);
  }
}

async function hasContent(path: string): Promise<boolean> {
  return await stat(path).then(
    ({ size }) => size > 0,
    () => false,
  );
}

function programEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: "C", PATH: searchPath().join(delimiter) };
}

/** Root's PATH may lack the folders that hold modprobe, mke2fs and e2fsck. */
function searchPath(): string[] {
  return [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
}

/**
 * With LO_FLAGS_AUTOCLEAR, so that the kernel itself takes the device down when its last user is gone,
 * be that an unmount, the last overlay on it, or this process killed before it could mount.
 */
async function attachLoop({ file, offset, bytes, readOnly }: LoopRequest): Promise<LoopDevice> {
  const flags = readOnly ? constants.O_RDONLY : constants.O_RDWR;
  const backing = await open(file, flags);
  try {
    const options = { offset, sizeLimit: bytes, readOnly, autoclear: true, directIo: true };
    const { path, fd } = sys.loopAttach(backing.fd, options);
    return { device: path, close: () => closeSync(fd) };
  } finally {
    await backing.close();
  }
}

async function endProcess(pid: number, graceMs: number): Promise<void> {
  let pidfd: number;
  try {
    pidfd = sys.pidfdOpen(pid);
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  try {
    const ended = sys.pidfdWait(pidfd);
    const timer = setTimeout(() => signal(pidfd, "SIGKILL"), graceMs);
    signal(pidfd, "SIGTERM");
    await ended;
    clearTimeout(timer);
  } finally {
    closeSync(pidfd);
  }
}

function signal(pidfd: number, name: NodeJS.Signals): void {
  try {
    sys.pidfdSendSignal(pidfd, name);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ESRCH";
}

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of searchPath()) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}
