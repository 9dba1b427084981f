import { copyFile, mkdir, stat, symlink, writeFile } from "node:fs/promises";
import { execa } from "execa";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { buildLayer } from "./build.js";
import type { Layer } from "./digest.js";
import { placeInLayer, setOwnerAndMode } from "./placement.js";

/** One thing in a layer: exactly one of `source`, `content`, `link`; none makes an empty folder. */
export interface LayerEntry {
  /** Absolute, as seen from inside the session. */
  readonly path: string;
  /** A file or folder of the host to copy; a folder with all that is in it, owners and attributes kept. */
  readonly source?: string;
  readonly content?: string | Uint8Array;
  /** Target of a symbolic link. */
  readonly link?: string;
  /** Default: 0644 for content, 0755 for a folder, the source's own for a copy. */
  readonly mode?: number;
  /** Default 0. */
  readonly uid?: number;
  /** Default 0. */
  readonly gid?: number;
}

export interface FolderLayerOptions {
  readonly entries: readonly LayerEntry[];
  /** The layer's folder; must not exist. Its parent must. */
  readonly target: string;
  /** The root that the layer is for; see unpackDebLayer. */
  readonly root?: string;
}

/**
 * Makes a layer of files and folders given one by one. Folders above them are made 0755, or as the root
 * has them.
 *
 * @throws RootfsError LAYER_UNSAFE, LAYER_EXISTS
 */
export async function folderLayer({ entries, target, root }: FolderLayerOptions): Promise<Layer> {
  return await buildLayer(target, async (folder) => {
    const { place } = placeInLayer(folder, root);
    for (const entry of entries)
      try {
        const isFolder =
          entry.content === undefined && entry.link === undefined && entry.source === undefined;
        await writeEntry(await place(entry.path.replace(/^\/+/, ""), isFolder ? "folder" : "leaf"), entry);
      } catch (cause) {
        throw entryFailed(entry, cause);
      }
  });
}

async function writeEntry(path: string, entry: LayerEntry): Promise<void> {
  const { source, content, link, uid = 0, gid = 0 } = entry;
  if (link !== undefined) return await symlink(link, path);
  if (source !== undefined) return await copySource(path, source, entry);
  if (content !== undefined) await writeFile(path, content, { flag: "wx" });
  else await mkdir(path, { recursive: true });
  await setOwnerAndMode(path, { mode: entry.mode ?? (content === undefined ? 0o755 : 0o644), uid, gid });
}

async function copySource(
  path: string,
  source: string,
  { mode, uid = 0, gid = 0 }: LayerEntry,
): Promise<void> {
  const stats = await stat(source);
  if (stats.isDirectory()) {
    await execa("cp", ["-dR", "--preserve=mode,ownership,timestamps,links,xattr", "-T", "--", source, path]);
    return;
  }
  await copyFile(source, path);
  await setOwnerAndMode(path, { mode: mode ?? stats.mode & 0o7777, uid, gid });
}

function entryFailed({ path, source }: LayerEntry, cause: unknown): RootfsError {
  const reason = cause instanceof RootfsError ? cause.message : reasonOf(cause);
  return new RootfsError("LAYER_UNSAFE", `${path} cannot be put into the layer: ${reason}`, {
    path,
    hint:
      source && systemCode(cause) === "ENOENT"
        ? `${source} does not exist: build or fetch it first.`
        : "Check the entry's path and source.",
    cause,
  });
}
