import { closeSync, constants, openSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CriuError } from "../errors.js";
import { nameDumped } from "../explain/name-process.js";
import { criu_req_type } from "../gen/rpc_pb.js";
import { callCriu } from "../rpc/client.js";
import type { CriuOptions } from "../rpc/messages.js";
import { queryFeatures } from "../rpc/queries.js";
import type { DumpOptions } from "./dump.js";
import { failureError, withLog } from "./failure.js";
import { removeImages } from "./images.js";

/** Options of {@link preDump}. */
export interface PreDumpOptions
  extends Pick<DumpOptions, "criu" | "pid" | "imagesDir" | "start" | "signal" | "timeoutMs"> {
  /** Images of an earlier pre-dump, relative to `imagesDir`: pages that did not change since are left there. */
  readonly parent?: string;
  /** Further options of the protocol. */
  readonly options?: CriuOptions;
}

/**
 * Saves memory while the tree runs on, so that a later dump with `options: { parentImg, trackMem: true }` has less to
 * write while all is frozen. Needs a kernel that tracks dirty pages (CONFIG_MEM_SOFT_DIRTY).
 * @throws {CriuError} `FEATURE_MISSING` on a kernel that cannot, `DUMP_FAILED` with an explanation, the `RPC_` codes
 */
export async function preDump(options: PreDumpOptions): Promise<void> {
  const { criu, imagesDir, parent, start = {} } = options;
  if (!(await queryFeatures(criu, start)).memTrack) throw cannotTrack();
  await mkdir(imagesDir, { recursive: true });
  const imagesDirFd = openSync(imagesDir, constants.O_RDONLY | constants.O_DIRECTORY);
  const files = { log: join(imagesDir, "pre-dump.log"), errors: join(imagesDir, "pre-dump.stderr") };
  const opts: CriuOptions = {
    imagesDirFd,
    pid: options.pid,
    logFile: "pre-dump.log",
    logLevel: 2,
    trackMem: true,
    ...(parent === undefined ? {} : { parentImg: parent }),
    ...options.options,
  };
  try {
    const { signal, timeoutMs } = options;
    const limits = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    const response = await callCriu(criu, { type: criu_req_type.PRE_DUMP, opts }, { start, ...limits });
    if (!response.success)
      throw await failureError("dump", files, response, (found) =>
        nameDumped(found, { initPid: options.pid }),
      );
  } catch (error) {
    await removeImages(imagesDir);
    throw await withLog(error, "dump", files);
  } finally {
    closeSync(imagesDirFd);
  }
}

function cannotTrack(): CriuError {
  return new CriuError(
    "FEATURE_MISSING",
    "This kernel does not track which pages change, as a pre-dump needs",
    {
      hint: "Dump at once, or use a kernel with CONFIG_MEM_SOFT_DIRTY",
      facts: { feature: "memTrack" },
    },
  );
}
