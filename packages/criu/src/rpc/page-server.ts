import { closeSync, constants, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { failureError, type LogFiles } from "../checkpoint/failure.js";
import { criu_req_type } from "../gen/rpc_pb.js";
import type { Criu } from "../install/find.js";
import { callCriu } from "./client.js";
import type { StartOptions } from "./start.js";

/** Options of {@link startPageServer}. */
export interface PageServerOptions {
  readonly criu: Criu;
  /** Takes the pages and the log; made where missing. */
  readonly imagesDir: string;
  /** Where it listens. Default 127.0.0.1: pages are a process's memory, and go unencrypted. */
  readonly address?: string;
  /** Default: one that is free. */
  readonly port?: number;
  readonly start?: StartOptions;
}

/** A running page server. It ends by itself after one dump. */
export interface PageServer {
  readonly pid: number;
  readonly address: string;
  readonly port: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  /** Ends it where it has not ended yet. */
  close(): Promise<void>;
}

/**
 * Starts `criu page-server`: a dump that is told of it (`options: { ps: { address, port } }`) sends its pages there
 * instead of writing them. @throws {CriuError} `DUMP_FAILED`, and the `RPC_` codes
 */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { criu, imagesDir, address = "127.0.0.1", port = 0, start = {} } = options;
  await mkdir(imagesDir, { recursive: true });
  const imagesDirFd = openSync(imagesDir, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const opts = { imagesDirFd, ps: { address, port }, logFile: LOG, logLevel: 2 };
    const files: LogFiles = { log: join(imagesDir, LOG), errors: join(imagesDir, "page-server.stderr") };
    // The daemon that PAGE_SERVER makes is answered with a pid of 0 (criu/page-xfer.c, 4.2.1).
    const response = await callCriu(
      criu,
      { type: criu_req_type.PAGE_SERVER_CHLD, opts },
      { start: { ...start, errorFile: files.errors } },
    );
    const pid = response.ps?.pid ?? 0;
    if (!response.success || pid <= 0) throw await failureError("dump", files, response, (found) => found);
    return running(pid, { address, port: response.ps?.port || port });
  } finally {
    closeSync(imagesDirFd);
  }
}

const LOG = "page-server.log";

function running(pid: number, place: { readonly address: string; readonly port: number }): PageServer {
  const pidfd = sys.pidfdOpen(pid);
  const ended = sys.pidfdWait(pidfd).then(() => closeSync(pidfd));
  const close = async () => {
    try {
      sys.pidfdSendSignal(pidfd, "SIGKILL");
    } catch {
      // It has ended already.
    }
    await ended;
  };
  return { pid, ...place, ended, close };
}
