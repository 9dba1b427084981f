import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { assertRestorable } from "@drums/criu";
import { DrumsError, messageOf } from "../../errors.js";
import type { Home } from "../../home.js";
import { layerDigests } from "../layer-digest.js";
import { openCheckpoint } from "../load.js";
import { type ArchiveSource, archiveOf } from "./write.js";
import { packer, zstdError } from "./zstd.js";

/** What is asked of an export. */
export interface ExportRequest {
  readonly checkpoint: string;
  /** Path of the file to make; one that exists is replaced, once the new one is whole. */
  readonly file: string;
}

/** How an export is made. */
export interface ExportOptions {
  /** Pack it with zstd. Default false. */
  readonly zstd?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What an export came to. */
export interface ExportReport {
  readonly file: string;
  readonly bytes: number;
  readonly layers: number;
}

/**
 * Writes a checkpoint as one file: its manifest, images, log and every layer that it stands on, with a checksum each.
 * The image below the layers is not part of it; an import needs the same one. On failure no file is left.
 * @throws DrumsError NO_CHECKPOINT, EXPORT_FAILED, ARCHIVE_UNSUPPORTED, NO_ZSTD; CriuError LAYER_CHANGED
 */
export async function exportCheckpoint(
  home: Home,
  { checkpoint, file }: ExportRequest,
  { zstd = false, signal }: ExportOptions = {},
): Promise<ExportReport> {
  const { folder, manifest, spec } = await openCheckpoint(home, checkpoint);
  const { criu, externals } = manifest;
  assertRestorable(manifest, {
    criu,
    externals,
    layers: await layerDigests(spec, { known: folder.digests }),
  });
  const sources: ArchiveSource[] = [
    { host: join(folder.path, "checkpoint.json"), path: "checkpoint.json" },
    { host: folder.images, path: "images" },
    { host: folder.log, path: "dump" },
    ...spec.layers.map(({ path }, index) => ({ host: path, path: `layer-${index}` })),
  ];
  const target = resolve(file);
  const partial = `${target}.${randomBytes(4).toString("hex")}.partial`;
  try {
    const out = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true });
    const stages = zstd ? [packer(), out] : [out];
    await pipeline([Readable.from(archiveOf(sources)), ...stages], signal ? { signal } : {});
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw exportError(error, target);
  }
  return { file: target, bytes: (await stat(target)).size, layers: spec.layers.length };
}

function exportError(error: unknown, target: string): unknown {
  const failed = (why: string, cause?: unknown) =>
    new DrumsError({
      code: "EXPORT_FAILED",
      what: "the checkpoint could not be written as a file",
      where: target,
      why,
      hint: "see that the folder exists and has room for the checkpoint",
      cause,
    });
  const isSystem = error instanceof Error && "syscall" in error && !("shortMessage" in error);
  return isSystem ? failed(messageOf(error), error) : zstdError(error, failed);
}
