import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs";
import { arch, platform } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { type InotifyUse, inotifyUse } from "../capacity/inotify.js";

/** What the host's preflight asks of the machine; tests give one with other answers. */
export interface Machine {
  /** Such as `linux x64`. */
  readonly platform: string;
  readonly uid: number;
  exists(path: string): boolean;
  /** Content of a small file, undefined where it cannot be read. */
  read(path: string): string | undefined;
  /** Where a program is on PATH, or in the folders of system programs. */
  program(name: string): string | undefined;
  /** What is charged to a uid of the host of its inotify limits. */
  inotifyUse(uid: number): InotifyUse;
  /** Bytes free for this user on the filesystem that holds a path, or would hold it. */
  freeBytes(path: string): number;
}

const SYSTEM_FOLDERS = ["/usr/sbin", "/sbin"];

/** The machine that this process runs on. */
export const thisMachine: Machine = {
  platform: `${platform()} ${arch()}`,
  uid: process.getuid?.() ?? -1,
  exists: existsSync,
  read: (path) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
  program: (name) => {
    const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_FOLDERS];
    return folders.map((folder) => join(folder, name)).find(isExecutable);
  },
  inotifyUse,
  freeBytes: (path) => {
    const { bavail, bsize } = statfsSync(nearestExisting(path));
    return bavail * bsize;
  },
};

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}
