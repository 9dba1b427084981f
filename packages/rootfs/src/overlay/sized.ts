import { closeSync, openSync } from "node:fs";
import { mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { RootfsError, reasonOf, systemCode } from "../errors.js";

/** Below this mke2fs makes file systems with next to no room. */
const LEAST_BYTES = 16 << 20;

/** What {@link mountSizedFolder} takes. */
export interface SizedFolderOptions {
  /** The most that the folder will hold, a little of it for the file system itself. At least 16 MiB. */
  readonly bytes: number;
}

/**
 * Makes a folder that cannot hold more than it is given, for an upper and its work folder: an ext4 of its own in a
 * sparse file beside it (`FOLDER.img`), mounted nodev and nosuid. What is full there fills nothing else. It takes the
 * disk's space only as it is written, so the disk itself can still run out.
 *
 * The mount is the caller's to undo by umount2; the loop device then goes by itself, and the file is left to remove.
 * @throws RootfsError SIZE_INVALID, SIZED_FOLDER_FAILED (nothing is left)
 */
export async function mountSizedFolder(folder: string, { bytes }: SizedFolderOptions): Promise<void> {
  if (!Number.isSafeInteger(bytes) || bytes < LEAST_BYTES)
    throw new RootfsError("SIZE_INVALID", `a folder of ${bytes} bytes cannot be made`, {
      path: folder,
      hint: `Give at least ${LEAST_BYTES} bytes (16 MiB).`,
    });
  const image = `${folder}.img`;
  try {
    await writeFile(image, "", { flag: "wx", mode: 0o600 });
  } catch (cause) {
    throw sizedFolderFailed(folder, cause);
  }
  try {
    await truncate(image, bytes);
    // Nothing of it outlives a crash of the machine, so a journal would only be written.
    const features = ["-O", "^has_journal,^resize_inode", "-E", "lazy_itable_init=1,nodiscard", "-m", "0"];
    await execa("mke2fs", ["-q", "-F", "-t", "ext4", ...features, image]);
    await mkdir(folder);
    mountImage(image, folder);
  } catch (cause) {
    await rm(image, { force: true });
    await rm(folder, { recursive: true, force: true });
    throw sizedFolderFailed(folder, cause);
  }
}

function mountImage(image: string, folder: string): void {
  const backing = openSync(image, "r+");
  try {
    const loop = sys.loopAttach(backing, { readOnly: false, autoclear: true });
    try {
      const flags = sys.MS.NODEV | sys.MS.NOSUID | sys.MS.NOATIME;
      sys.mount(folder, { source: loop.path, fsType: "ext4", flags });
    } finally {
      closeSync(loop.fd);
    }
  } finally {
    closeSync(backing);
  }
}

function sizedFolderFailed(folder: string, cause: unknown): RootfsError {
  const words = String((cause as { stderr?: unknown }).stderr ?? "").trim() || reasonOf(cause);
  const hints: Readonly<Record<string, string>> = {
    ENOENT: "mke2fs is needed (Debian: e2fsprogs).",
    EEXIST: "Give a folder that does not exist, nor its .img.",
    ENOSPC: "The disk is full: free space there.",
    NO_FREE_LOOP: "Detach loop devices that are no longer used (losetup -a).",
  };
  return new RootfsError(
    "SIZED_FOLDER_FAILED",
    `cannot make ${folder} with a size of its own: ${words.slice(-500)}`,
    {
      path: folder,
      hint: hints[systemCode(cause) ?? ""] ?? "It needs root, loop devices and ext4.",
      cause,
    },
  );
}
