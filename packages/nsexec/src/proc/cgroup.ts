import { linesOf, malformed, type Pid, type ProcOptions, readProcFile, toInteger } from "./read.js";

/** One line of /proc/PID/cgroup (cgroups(7)). */
export interface CgroupMembership {
  /** 0 for cgroup v2. */
  readonly hierarchy: number;
  /** Empty for cgroup v2. A named v1 hierarchy gives "name=…". */
  readonly controllers: readonly string[];
  /** Relative to the reader's cgroup namespace; may begin with "/..". */
  readonly path: string;
  /** The group has been removed while the process still was in it. */
  readonly deleted: boolean;
}

const DELETED = " (deleted)";

/** Parses the text of /proc/PID/cgroup. @throws NsexecError code PROC_FORMAT */
export function parseCgroup(text: string): CgroupMembership[] {
  return linesOf(text).map((line) => {
    const match = /^(\d+):([^:]*):(\/.*)$/.exec(line);
    const [, hierarchy, controllers = "", path] = match ?? [];
    if (path === undefined) throw malformed("cgroup", line);
    const deleted = path.endsWith(DELETED);
    return {
      hierarchy: toInteger(hierarchy, "cgroup", line),
      controllers: controllers === "" ? [] : controllers.split(","),
      path: deleted ? path.slice(0, -DELETED.length) : path,
      deleted,
    };
  });
}

/** Reads the groups that a process is in. */
export async function readCgroup(pid: Pid, options: ProcOptions = {}): Promise<CgroupMembership[]> {
  return parseCgroup(await readProcFile(pid, "cgroup", options));
}
