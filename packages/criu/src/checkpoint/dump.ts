import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CriuError } from "../errors.js";
import { type Explanation, passesByItself } from "../explain/explain.js";
import { nameDumped } from "../explain/name-process.js";
import { criu_req_type } from "../gen/rpc_pb.js";
import { type Criu, withShim } from "../install/find.js";
import { lacksResourceCapability, readCapEff } from "../install/shim.js";
import { callCriu } from "../rpc/client.js";
import type { CriuOptions, CriuRequest } from "../rpc/messages.js";
import type { NotifyHandler } from "../rpc/notify.js";
import type { StartOptions } from "../rpc/start.js";
import { failureError, type LogFiles, withLog } from "./failure.js";
import { imageBytes, removeImages } from "./images.js";
import { type CheckpointFlags, DEFAULT_FLAGS, type ExternalMount, sharedOptions } from "./options.js";
import { plainTmpfs } from "./plain-tmpfs.js";
import { privateTmp } from "./private-tmp.js";
import { type DumpStats, readDumpStats } from "./stats.js";

/** Options of {@link dump}. */
export interface DumpOptions {
  readonly criu: Criu;
  /** Host pid of the tree's root, usually a session's init. */
  readonly pid: number;
  /** Takes the images; made where missing. After a failure it holds none. */
  readonly imagesDir: string;
  /** Takes `dump.log` and the statistics; made where missing. Default: `imagesDir`. */
  readonly workDir?: string;
  /** Mounts whose content lies outside the session. Default: none. */
  readonly externals?: readonly ExternalMount[];
  /** The dumped tree runs on. Default true; false kills it once the dump is complete. */
  readonly leaveRunning?: boolean;
  /**
   * Called when all images are written and every task is still frozen: what is copied here is of the same
   * moment as the memory. Rejecting makes the dump fail, and the tree run on.
   */
  readonly onPostDump?: (moment: { readonly signal: AbortSignal }) => void | Promise<void>;
  /** Told of every stage, post-dump too (after `onPostDump`). */
  readonly onNotify?: NotifyHandler;
  /** Flags that differ from {@link DEFAULT_FLAGS}. */
  readonly flags?: Partial<CheckpointFlags>;
  /** Further options of the protocol, by the names of `proto/rpc.proto`; they win over what this call sets. */
  readonly options?: CriuOptions;
  /** CRIU's log level, 1 errors to 4 everything. Default 2. */
  readonly logLevel?: number;
  /** Private mounts for criu, such as those of `kernelCacheMounts`. */
  readonly start?: StartOptions;
  /**
   * How often a dump is tried again that failed for something that passes by itself, such as a connection that was not
   * accepted yet. Default 5, within some 1.3 s.
   */
  readonly retries?: number;
  /** Told before each such retry why the last attempt failed. */
  readonly onRetry?: (why: Explanation) => void | Promise<void>;
  /** Aborting ends criu; the tree runs on. */
  readonly signal?: AbortSignal;
  /** Default 120 000. */
  readonly timeoutMs?: number;
}

/** What a dump did. */
export interface DumpReport {
  /** How long the tasks stood still, in milliseconds, by CRIU's own clock. */
  readonly frozenMs: number;
  readonly totalMs: number;
  /** Size of the images. */
  readonly bytes: number;
  readonly logFile: string;
  readonly stats?: DumpStats;
  readonly flags: CheckpointFlags;
  /** Why earlier attempts of this call failed, for something that passed by itself. */
  readonly retries: readonly Explanation[];
}

/**
 * Dumps a process tree. On any failure the tree runs on and the images are removed; the log stays.
 * @throws {CriuError} `DUMP_FAILED` and `DISK_FULL` with an explanation, `RPC_ABORTED`, `RPC_TIMEOUT`, `RPC_CLOSED`
 * @throws what `onPostDump` or `onNotify` rejected with
 */
export async function dump(options: DumpOptions): Promise<DumpReport> {
  const started = performance.now();
  const flags = { ...DEFAULT_FLAGS, ...options.flags };
  const workDir = options.workDir ?? options.imagesDir;
  await mkdir(options.imagesDir, { recursive: true });
  await mkdir(workDir, { recursive: true });
  const files: LogFiles = { log: join(workDir, "dump.log"), errors: join(workDir, "dump.stderr") };
  const retries = await dumpUntilItPasses(options, { flags, workDir, files });
  await rm(files.errors, { force: true });
  const stats = await readDumpStats(workDir);
  const totalMs = performance.now() - started;
  return {
    frozenMs: stats?.frozenMs ?? totalMs,
    totalMs,
    bytes: await imageBytes(options.imagesDir),
    logFile: files.log,
    ...(stats === undefined ? {} : { stats }),
    flags,
    retries,
  };
}

/** Waits before the first, second … retry, in milliseconds: a server that was woken accepts within some of these. */
const RETRY_AFTER_MS = [20, 40, 80, 160, 320, 640];

/** Dumps again while what failed passes by itself. Returns why each attempt but the last failed. */
async function dumpUntilItPasses(options: DumpOptions, call: DumpCall): Promise<Explanation[]> {
  const { retries: allowed = 5, signal } = options;
  const passed: Explanation[] = [];
  for (;;) {
    try {
      await callDump(options, call);
      return passed;
    } catch (error) {
      await removeImages(options.imagesDir);
      const explanation = error instanceof CriuError ? error.explanation : undefined;
      if (explanation === undefined || !passesByItself(error) || passed.length >= allowed)
        throw await withLog(error, "dump", call.files);
      passed.push(explanation);
      await options.onRetry?.(explanation);
    }
    await sleep(RETRY_AFTER_MS[passed.length - 1] ?? 640, undefined, signal ? { signal } : {}).catch(
      () => {},
    );
  }
}

interface DumpCall {
  readonly flags: CheckpointFlags;
  readonly workDir: string;
  readonly files: LogFiles;
}

async function callDump(options: DumpOptions, { flags, workDir, files }: DumpCall): Promise<void> {
  const folders = [options.imagesDir, workDir].map((folder) =>
    openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY),
  );
  const [imagesDirFd = -1, workDirFd = -1] = folders;
  const tmp = privateTmp(workDir);
  const plain = flags.plainTmpfs ? plainTmpfs({ ...options.start, hasPrivateTmp: true }) : undefined;
  try {
    const criu = (await needsShim(options.pid)) ? withShim(options.criu) : options.criu;
    const response = await callCriu(criu, dumpRequest(options, { flags, imagesDirFd, workDirFd }), {
      start: {
        ...options.start,
        mounts: [...(options.start?.mounts ?? []), ...tmp.steps, ...(plain?.steps ?? [])],
        ...(plain && { env: plain.env }),
        errorFile: files.errors,
      },
      onNotify: handlerOf(options),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    });
    if (!response.success)
      throw await failureError("dump", files, response, (found) =>
        nameDumped(found, { initPid: options.pid }),
      );
  } finally {
    tmp.remove();
    for (const fd of folders) closeSync(fd);
  }
}

function dumpRequest(
  options: DumpOptions,
  { flags, imagesDirFd, workDirFd }: { flags: CheckpointFlags; imagesDirFd: number; workDirFd: number },
): CriuRequest {
  const { pid, externals = [], leaveRunning = true, logLevel = 2 } = options;
  return {
    type: criu_req_type.DUMP,
    opts: {
      ...sharedOptions(flags),
      imagesDirFd,
      workDirFd,
      pid,
      leaveRunning,
      logLevel,
      logFile: "dump.log",
      notifyScripts: true,
      external: externals.map(({ mountPoint, key }) => `mnt[${mountPoint}]:${key}`),
      ...options.options,
    },
  };
}

function handlerOf({ onPostDump, onNotify }: DumpOptions): NotifyHandler {
  return async (notification) => {
    if (notification.stage === "post-dump") await onPostDump?.({ signal: notification.signal });
    await onNotify?.(notification);
  };
}

/** With a user namespace of the session's own the kernel allows the read (capabilities in that namespace). */
async function needsShim(pid: number): Promise<boolean> {
  if (!lacksResourceCapability(await readCapEff())) return false;
  try {
    return readlinkSync(`/proc/${pid}/ns/user`) === readlinkSync("/proc/self/ns/user");
  } catch (cause) {
    throw new CriuError("DUMP_FAILED", `There is no process ${pid} to dump`, {
      hint: "The session has ended: see its logs",
      cause,
      facts: { pid },
    });
  }
}
