import { linesOf, malformed, type Pid, type ProcOptions, readProcFile, toInteger } from "./read.js";

/** One line of /proc/PID/mountinfo; the field comments are those of proc_pid_mountinfo(5). */
export interface MountInfo {
  /** A unique id for the mount; may be reused after umount(2). */
  readonly mountId: number;
  /** The mount that this one is on; itself, or one outside the process's root, at the top of the tree. */
  readonly parentId: number;
  /** st_dev of files on this filesystem. */
  readonly major: number;
  readonly minor: number;
  /** The folder in the filesystem that forms the root of this mount. */
  readonly root: string;
  /** Relative to the process's root folder. */
  readonly mountPoint: string;
  /** Per-mount options. */
  readonly options: readonly string[];
  /** The peer group that the mount is shared in. */
  readonly shared?: number;
  /** The peer group that the mount is a slave to. */
  readonly master?: number;
  /** The closest dominant peer group under the process's root, where it differs from `master`. */
  readonly propagateFrom?: number;
  readonly unbindable: boolean;
  /** "type" or "type.subtype". */
  readonly fsType: string;
  /** Filesystem-specific, or "none"; may be empty. */
  readonly source: string;
  /** Per-superblock options. */
  readonly superOptions: readonly string[];
}

/**
 * Parses the text of a mountinfo file. Names leave unescaped.
 * @throws NsexecError code PROC_FORMAT
 */
export function parseMountinfo(text: string): MountInfo[] {
  return linesOf(text).map(parseLine);
}

/** Reads the mounts that a process sees. */
export async function readMountinfo(pid: Pid, options: ProcOptions = {}): Promise<MountInfo[]> {
  return parseMountinfo(await readProcFile(pid, "mountinfo", options));
}

//  36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
//  (1)(2)(3)   (4)   (5)     (6)      (7)   (8) (9)    (10)         (11)
function parseLine(line: string): MountInfo {
  const fields = line.split(" ");
  const separator = fields.indexOf("-", 6);
  const [mountId, parentId, device = "", root, mountPoint, options] = fields;
  const [fsType, source, superOptions] = fields.slice(separator + 1);
  if (separator < 0 || superOptions === undefined || root === undefined || mountPoint === undefined)
    throw malformed("mountinfo", line);
  const [major, minor] = device.split(":");
  return {
    mountId: toInteger(mountId, "mountinfo", line),
    parentId: toInteger(parentId, "mountinfo", line),
    major: toInteger(major, "mountinfo", line),
    minor: toInteger(minor, "mountinfo", line),
    root: unescapeOctal(root),
    mountPoint: unescapeOctal(mountPoint),
    options: splitOptions(options),
    ...parsePropagation(fields.slice(6, separator), line),
    fsType: unescapeOctal(fsType ?? ""),
    source: unescapeOctal(source ?? ""),
    superOptions: splitOptions(superOptions),
  };
}

const PROPAGATION = { shared: "shared", master: "master", propagate_from: "propagateFrom" } as const;

function parsePropagation(fields: readonly string[], line: string) {
  const result: { shared?: number; master?: number; propagateFrom?: number; unbindable: boolean } = {
    unbindable: fields.includes("unbindable"),
  };
  for (const field of fields) {
    const [tag = "", group] = field.split(":");
    if (tag in PROPAGATION)
      result[PROPAGATION[tag as keyof typeof PROPAGATION]] = toInteger(group, "mountinfo", line);
  }
  return result;
}

// Commas inside an option's value are the filesystem's own affair (overlay escapes them as "\,").
function splitOptions(text = ""): string[] {
  return text === "" ? [] : text.split(",").map(unescapeOctal);
}

/** Undoes the kernel's mangle_path(): space, tab, newline, # and backslash as three octal digits. */
export function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
