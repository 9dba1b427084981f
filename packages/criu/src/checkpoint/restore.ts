import { closeSync, constants, openSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type IdMap, type MountStep, readStartTime } from "@drums/nsexec";
import { nameRestored } from "../explain/name-process.js";
import { criu_req_type } from "../gen/rpc_pb.js";
import type { Criu } from "../install/find.js";
import { callCriu } from "../rpc/client.js";
import type { CriuOptions, CriuRequest, CriuResponse } from "../rpc/messages.js";
import type { NotifyHandler } from "../rpc/notify.js";
import { FIRST_PASSED_FD } from "../rpc/start.js";
import { failureError, type LogFiles, withLog } from "./failure.js";
import { bringLoopbackUp } from "./loopback.js";
import { type CheckpointFlags, DEFAULT_FLAGS, type ExternalBind, sharedOptions } from "./options.js";
import { plainTmpfs } from "./plain-tmpfs.js";
import { privateTmp } from "./private-tmp.js";
import { killRemains, RestoredRoot } from "./remains.js";

/** Options of {@link restore}. */
export interface RestoreOptions {
  readonly criu: Criu;
  /** A checkpoint's images. Any number of restores may read them at once. */
  readonly imagesDir: string;
  /** This restore's own folder, for `restore.log`; made where missing. */
  readonly workDir: string;
  /** The new root's mount point, in the private mount namespace that `hostMounts` make. */
  readonly root: string;
  /** Made in a private mount namespace before criu starts: the overlay at `root`, what externals are bound to. */
  readonly hostMounts: readonly MountStep[];
  /** For id-mapped layers among the mounts. */
  readonly idMap?: IdMap;
  /** Default: none. */
  readonly externals?: readonly ExternalBind[];
  /** The flags of the dump, from the manifest. Default {@link DEFAULT_FLAGS}. */
  readonly flags?: Partial<CheckpointFlags>;
  /** A cgroup2 folder's descriptor: the restored tree is born in that group. */
  readonly cgroupFd?: number;
  /** The kernel may merge memory of the tree that is equal elsewhere (KSM, Linux 6.7 or later). Default false. */
  readonly mergeMemory?: boolean;
  /** Leave the tree stopped; SIGCONT wakes it. Default false. */
  readonly leaveStopped?: boolean;
  /** Open files of this process that the tree gets in place of its own: CRIU's key (a path without its first slash, `pipe:[N]`). */
  readonly inheritFds?: readonly { readonly key: string; readonly fd: number }[];
  /** Further options of the protocol, by the names of `proto/rpc.proto`; they win over what this call sets. */
  readonly options?: CriuOptions;
  readonly onNotify?: NotifyHandler;
  /** CRIU's log level, 1 errors to 4 everything. Default 2. */
  readonly logLevel?: number;
  readonly signal?: AbortSignal;
  /** Default 120 000. */
  readonly timeoutMs?: number;
}

/** A restored tree. */
export interface RestoreReport {
  /** Host pid of its root. Its parent is the host's reaper: it outlives criu and this process. */
  readonly pid: number;
  /** Field 22 of /proc/PID/stat; with the pid it identifies the process. */
  readonly startTime: bigint;
  readonly totalMs: number;
  readonly logFile: string;
}

/**
 * Restores a process tree from images. The mounts lie in a mount namespace of criu's own, which ends with it;
 * the tree keeps what it needs of them. On failure nothing of the tree is left.
 * @throws {CriuError} `RESTORE_FAILED` with an explanation, `RPC_ABORTED`, `RPC_TIMEOUT`, `RPC_CLOSED`
 * @throws what `onNotify` rejected with, and NsexecError for a mount that failed
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const started = performance.now();
  await mkdir(options.workDir, { recursive: true });
  const files: LogFiles = {
    log: join(options.workDir, "restore.log"),
    errors: join(options.workDir, "restore.stderr"),
  };
  const response = await callRestore(options, files).catch(async (error: unknown) => {
    throw await withLog(error, "restore", files);
  });
  const pid = response.restore?.pid ?? -1;
  if (!response.success || pid <= 0)
    throw await failureError("restore", files, response, (found) => nameRestored(found, options));
  await rm(files.errors, { force: true });
  return {
    pid,
    startTime: await readStartTime(pid),
    totalMs: performance.now() - started,
    logFile: files.log,
  };
}

async function callRestore(options: RestoreOptions, files: LogFiles): Promise<CriuResponse> {
  const folders = [options.imagesDir, options.workDir].map((folder) =>
    openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY),
  );
  const [imagesDirFd = -1, workDirFd = -1] = folders;
  const root = new RestoredRoot();
  const tmp = liesBelowTmp(options) ? undefined : privateTmp(options.workDir);
  const { plainTmpfs: isPlain } = { ...DEFAULT_FLAGS, ...options.flags };
  const plain = isPlain ? plainTmpfs({ hasPrivateTmp: tmp !== undefined }) : undefined;
  try {
    return await callCriu(options.criu, restoreRequest(options, { imagesDirFd, workDirFd }), {
      start: {
        mounts: [...options.hostMounts, ...(tmp?.steps ?? []), ...(plain?.steps ?? [])],
        ...(plain && { env: plain.env }),
        ...(options.idMap === undefined ? {} : { idMap: options.idMap }),
        errorFile: files.errors,
        mergeMemory: options.mergeMemory ?? false,
        fds: (options.inheritFds ?? []).map(({ fd }) => fd),
        ...(options.cgroupFd === undefined ? {} : { cgroupFd: options.cgroupFd }),
      },
      onRemains: killRemains,
      onNotify: handlerOf(options, root),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    });
  } catch (error) {
    await root.end();
    throw error;
  } finally {
    root.close();
    tmp?.remove();
    plain?.remove();
    for (const fd of folders) closeSync(fd);
  }
}

/** A private /tmp would hide a root or an external that is mounted below the host's. */
function liesBelowTmp({ root, externals = [] }: RestoreOptions): boolean {
  return [root, ...externals.map(({ hostPath }) => hostPath)].some((path) => path.startsWith("/tmp/"));
}

/** Without rst_sibling criu is the parent; when it exits the tree's root goes to the host's reaper. */
function restoreRequest(
  options: RestoreOptions,
  { imagesDirFd, workDirFd }: { imagesDirFd: number; workDirFd: number },
): CriuRequest {
  const { root, externals = [], leaveStopped = false, logLevel = 2, inheritFds = [] } = options;
  return {
    type: criu_req_type.RESTORE,
    opts: {
      ...sharedOptions({ ...DEFAULT_FLAGS, ...options.flags }),
      imagesDirFd,
      workDirFd,
      root,
      leaveStopped,
      logLevel,
      logFile: "restore.log",
      notifyScripts: true,
      external: externals.map(({ key, hostPath }) => `mnt[${key}]:${hostPath}`),
      inheritFd: inheritFds.map(({ key }, index) => ({ key, fd: FIRST_PASSED_FD + index })),
      ...options.options,
    },
  };
}

function handlerOf({ flags, onNotify }: RestoreOptions, root: RestoredRoot): NotifyHandler {
  const emptyNet = flags?.emptyNet ?? DEFAULT_FLAGS.emptyNet;
  return async (notification) => {
    const { stage, pid } = notification;
    if (stage === "setup-namespaces" && pid !== undefined) {
      root.found(pid);
      if (emptyNet) bringLoopbackUp(pid);
    }
    await onNotify?.(notification);
  };
}
