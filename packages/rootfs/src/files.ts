import { randomBytes } from "node:crypto";
import { lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "./errors.js";

/** Whether anything, even a dangling link, stands at the path. */
export async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    // A dead FUSE export answers ENOTCONN: something stands there, and somebody has to clear it.
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return false;
    return true;
  }
}

/** Writes a file so that a reader, or a crash, sees the old content or the new and nothing between. */
export async function writeAtomically(path: string, content: string): Promise<void> {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
