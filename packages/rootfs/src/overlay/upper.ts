import { chmod, chown, constants, copyFile, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { RootfsError, reasonOf, systemCode } from "../errors.js";
import { exists } from "../files.js";
import { walkTree } from "../walk.js";

export interface FreshUpperOptions {
  /** Who owns both folders: the session's root, as the host sees it. Default: the caller. */
  readonly owner?: { readonly uid: number; readonly gid: number };
}

export interface Upper {
  readonly upper: string;
  readonly work: string;
}

/**
 * Makes an empty upper and its work folder in `folder`. Each stack of layers needs its own: overlayfs
 * refuses an upper that was used with other lowers (`Stale file handle`).
 *
 * @throws RootfsError UPPER_EXISTS
 */
export async function freshUpper(folder: string, { owner }: FreshUpperOptions = {}): Promise<Upper> {
  const made = { upper: join(folder, "upper"), work: join(folder, "work") };
  for (const path of Object.values(made)) {
    if (await exists(path))
      throw new RootfsError("UPPER_EXISTS", `${path} exists already`, {
        path,
        hint: "An upper serves one stack of layers only: give a new folder.",
      });
    await mkdir(path, { recursive: true });
    // The upper's mode and owner become those of the session's "/".
    await chmod(path, 0o755);
    if (owner) await chown(path, owner.uid, owner.gid);
  }
  return made;
}

export interface UpperCopy {
  /** Disk space that the copy occupies, as du counts it. */
  readonly bytes: number;
  readonly files: number;
  /** Whether the file system shares the data between both copies. */
  readonly reflink: boolean;
}

/**
 * Copies an upper so that the copy is the same layer: owners, modes, times, hard links, extended
 * attributes (overlay's own, capabilities), whiteouts and opaque folders, holes. By reflink where the
 * file system can. The source must be still: a frozen session's, or nobody's.
 *
 * @throws RootfsError UPPER_EXISTS, COPY_FAILED (the half-made copy is removed)
 */
export async function copyUpper(source: string, target: string): Promise<UpperCopy> {
  if (await exists(target))
    throw new RootfsError("UPPER_EXISTS", `${target} exists already`, {
      path: target,
      hint: "Give a path that does not exist; its parent must.",
    });
  const reflink = await sharesData(source, dirname(target));
  try {
    // Attributes are named: with -a alone cp passes over an attribute that it cannot copy.
    const preserve = "--preserve=mode,ownership,timestamps,links,xattr";
    await execa("cp", ["-dR", preserve, "--reflink=auto", "--sparse=always", "-T", "--", source, target]);
  } catch (cause) {
    await rm(target, { recursive: true, force: true });
    throw copyFailed(source, target, cause);
  }
  return { ...(await measureUpper(target)), reflink };
}

/** Disk space and number of entries of a layer; a file with several names is counted once. */
export async function measureUpper(folder: string): Promise<{ bytes: number; files: number }> {
  const seen = new Set<bigint>();
  const total = { bytes: 0, files: 0 };
  for await (const { stats } of walkTree(folder)) {
    total.files += 1;
    if (!seen.has(stats.ino)) total.bytes += Number(stats.blocks) * 512;
    seen.add(stats.ino);
  }
  return total;
}

/** Tries FICLONE with a small file beside the target, for no file system says beforehand whether it can. */
async function sharesData(source: string, folder: string): Promise<boolean> {
  const devices = await Promise.all([source, folder].map((path) => stat(path)));
  if (devices[0]?.dev !== devices[1]?.dev) return false;
  const probe = join(folder, `.reflink-probe-${process.pid}-${Date.now()}`);
  try {
    await writeFile(probe, "probe");
    await copyFile(probe, `${probe}-clone`, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true });
    await rm(`${probe}-clone`, { force: true });
  }
}

function copyFailed(source: string, target: string, cause: unknown): RootfsError {
  const words = String((cause as { stderr?: unknown }).stderr ?? "").trim() || reasonOf(cause);
  const full = /No space left/.test(words);
  return new RootfsError(
    "COPY_FAILED",
    `cannot copy the upper ${source} to ${target}: ${words.slice(-500)}`,
    {
      path: target,
      hint: full
        ? "The disk is full: free space there, or give another folder."
        : systemCode(cause) === "ENOENT"
          ? "GNU cp (coreutils) is needed on PATH."
          : "Both folders must be on file systems with trusted.* attributes, and the caller root.",
      cause,
    },
  );
}
