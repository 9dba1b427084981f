import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { refused } from "./errno.js";

/**
 * The system effects of this package. The default is the real cgroupfs; a unit test gives a fake.
 * Every method throws a CgroupError that names the errno.
 */
export interface CgroupFiles {
  /** The whole text of a control file. */
  read(file: string): string;
  /** One write(2) of `value` to an existing control file. */
  write(file: string, value: string): void;
  mkdir(folder: string): void;
  rmdir(folder: string): void;
  /** Whether this process may write a control file. */
  isWritable(file: string): boolean;
  /** The names of a group's children. */
  children(folder: string): string[];
}

/**
 * The real cgroupfs. The calls are synchronous: cgroupfs answers from memory, in microseconds, and a hop to
 * the thread pool for each of a dozen small files would cost more than the calls.
 */
export const realFiles: CgroupFiles = {
  read: (file) => attempt(`read ${file}`, file, "read", () => readFileSync(file, "utf8")),
  write: (file, value) =>
    attempt(`write ${JSON.stringify(value)} to ${file}`, file, "write", () => rawWrite(file, value)),
  mkdir: (folder) => attempt(`create the group ${folder}`, folder, "mkdir", () => mkdirSync(folder, 0o755)),
  rmdir: (folder) => attempt(`remove the group ${folder}`, folder, "rmdir", () => rmdirSync(folder)),
  isWritable: (file) => {
    try {
      accessSync(file, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  },
  children: (folder) =>
    attempt(`list ${folder}`, folder, "readdir", () =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name),
    ),
};

/**
 * cgroupfs judges a value at the write itself, so one write(2) carries it whole. O_CREAT and O_TRUNC stay
 * away: a file that is not there must give ENOENT.
 */
function rawWrite(file: string, value: string): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    const written = writeSync(fd, value);
    if (written !== Buffer.byteLength(value)) throw new Error(`short write of ${written} bytes`);
  } finally {
    closeSync(fd);
  }
}

function attempt<T>(what: string, path: string, syscall: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    throw refused(error, what, path, syscall);
  }
}
