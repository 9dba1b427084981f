import { copyFile, lchown, link, lstat, lutimes, mkdir, open, symlink, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { execa } from "execa";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { digestImage } from "../image/digest.js";
import { buildLayer } from "./build.js";
import type { Layer } from "./digest.js";
import { type Placement, placeInLayer, setOwnerAndMode, unsafe } from "./placement.js";
import { readTar, type TarEntry } from "./tar.js";

/** A package file and the sha256 that it must have. */
export interface PinnedDeb {
  readonly path: string;
  readonly sha256: string;
}

export interface DebLayerOptions {
  readonly debs: readonly PinnedDeb[];
  /** The layer's folder; must not exist. Its parent must. */
  readonly target: string;
  /** The root that the layer is for. With it, names that meet a link of the root go where the link leads. */
  readonly root?: string;
}

/**
 * Unpacks Debian packages into a layer of their own, without running any of their scripts. Every
 * package's sha256 is verified on the copy that is then unpacked. Absolute names, `..`, ways through
 * links, device nodes and files that two packages bring are refused.
 *
 * @throws RootfsError DEB_DIGEST_MISMATCH, DEB_UNREADABLE, DEB_UNSAFE, LAYER_EXISTS, MISSING_PROGRAM
 */
export async function unpackDebLayer({ debs, target, root }: DebLayerOptions): Promise<Layer> {
  return await buildLayer(target, async (folder, scratch) => {
    const placement = placeInLayer(folder, root);
    const folders: FolderTime[] = [];
    for (const deb of debs) await unpack(await pinnedCopy(deb, scratch), placement, folders);
    // Last, because every file made in a folder changes its time.
    for (const { path, mtime } of folders) await utimes(path, mtime, mtime);
  });
}

interface FolderTime {
  readonly path: string;
  readonly mtime: number;
}

/** What was hashed is what is unpacked: nobody else can reach the copy. */
async function pinnedCopy({ path, sha256 }: PinnedDeb, scratch: string): Promise<string> {
  const copy = join(scratch, "package.deb");
  await copyFile(path, copy).catch((cause) => {
    throw new RootfsError("DEB_UNREADABLE", `cannot read ${path}: ${reasonOf(cause)}`, {
      path,
      hint: "Check the path.",
      cause,
    });
  });
  const found = (await digestImage(copy)).sha256;
  if (found === sha256.toLowerCase()) return copy;
  throw new RootfsError(
    "DEB_DIGEST_MISMATCH",
    `${basename(path)} has sha256 ${found}, but ${sha256} is pinned`,
    {
      path,
      hint: "This is another build of the package: fetch the pinned one, or pin the new sha256 after looking at it.",
      facts: { expected: sha256, found },
    },
  );
}

async function unpack(deb: string, placement: Placement, folders: FolderTime[]): Promise<void> {
  const program = execa("dpkg-deb", ["--fsys-tarfile", deb], { buffer: false, stdin: "ignore" });
  const failed = program.catch((cause: unknown) => dpkgFailed(deb, cause));
  try {
    for await (const entry of readTar(program.stdout)) await writeEntry(entry, placement, folders);
  } catch (error) {
    // What is left unread would keep its end from being told.
    program.stdout.destroy();
    program.kill();
    throw (await isMissing(failed)) ?? error;
  }
  const error = await failed;
  if (error instanceof RootfsError) throw error;
}

async function isMissing(failed: Promise<unknown>): Promise<RootfsError | undefined> {
  const error = await failed;
  return error instanceof RootfsError && error.code === "MISSING_PROGRAM" ? error : undefined;
}

function dpkgFailed(deb: string, cause: unknown): RootfsError {
  if (systemCode(cause) === "ENOENT")
    return new RootfsError("MISSING_PROGRAM", "dpkg-deb is not on PATH", { hint: "Install dpkg.", cause });
  return new RootfsError("DEB_UNREADABLE", `dpkg-deb cannot read ${basename(deb)}: ${reasonOf(cause)}`, {
    path: deb,
    hint: "Fetch the package again.",
    cause,
  });
}

async function writeEntry(entry: TarEntry, placement: Placement, folders: FolderTime[]): Promise<void> {
  if (entry.kind === "device" || entry.kind === "other")
    throw unsafe(entry.name, "it is a device node or no file at all");
  const path = await placement.place(entry.name, entry.kind === "folder" ? "folder" : "leaf");
  if (entry.kind === "folder") {
    await writeFolder(path, entry);
    folders.push({ path, mtime: entry.mtime });
    return;
  }
  try {
    if (entry.kind === "symlink") await writeLink(path, entry);
    else if (entry.kind === "hardlink") await writeHardLink(path, entry, placement);
    else await writeFile(path, entry);
  } catch (error) {
    throw systemCode(error) === "EEXIST"
      ? unsafe(entry.name, "two packages, or one package twice, bring it")
      : error;
  }
}

async function writeFolder(path: string, entry: TarEntry): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error;
    if (!(await lstat(path)).isDirectory())
      throw unsafe(entry.name, "the layer has a file or link there already");
  }
  await setOwnerAndMode(path, entry);
}

async function writeFile(path: string, entry: TarEntry): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    for await (const bytes of entry.content()) await file.writeFile(bytes);
  } finally {
    await file.close();
  }
  await setOwnerAndMode(path, entry);
  await utimes(path, entry.mtime, entry.mtime);
}

async function writeLink(path: string, { linkName, uid, gid, mtime }: TarEntry): Promise<void> {
  await symlink(linkName, path);
  if (process.getuid?.() === 0) await lchown(path, uid, gid);
  await lutimes(path, mtime, mtime);
}

async function writeHardLink(path: string, entry: TarEntry, placement: Placement): Promise<void> {
  const source = await placement.place(entry.linkName, "leaf");
  const stats = await lstat(source).catch(() => undefined);
  if (!stats?.isFile())
    throw unsafe(entry.name, `it is a hard link to ${entry.linkName}, which the layer has not`);
  await link(source, path);
}
