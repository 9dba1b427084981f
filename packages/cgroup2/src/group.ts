import { constants, openSync } from "node:fs";
import { join } from "node:path";
import { ignoring, refused } from "./errno.js";
import { CgroupError } from "./errors.js";
import { type GroupEvents, parseEvents } from "./events.js";
import type { Hierarchy } from "./hierarchy.js";
import {
  freezeGroup,
  killGroup,
  removeGroup,
  thawGroup,
  type WaitOptions,
  waitUntilEmpty,
} from "./lifecycle.js";
import { checkParts, mountPointOf, parentFolders } from "./paths.js";
import { type GroupStats, readStats } from "./stats.js";

/** A group of our own in the cgroup2 hierarchy. Every method throws {@link CgroupError}. */
export interface Group {
  readonly hierarchy: Hierarchy;
  /** Its folder in the file system. */
  readonly path: string;
  /** Its path as /proc/PID/cgroup says it to this process, such as `/drums/ID`. */
  readonly relative: string;
  /** The names from the hierarchy's root down. */
  readonly parts: readonly string[];
  /**
   * Opens the folder, close-on-exec, for CLONE_INTO_CGROUP. The caller closes it.
   * The clone into a group that once saw {@link Group.kill} loses the child: take a fresh group.
   */
  openFd(): number;
  /** Moves a process (host pid) with all its threads into the group. */
  add(pid: number): void;
  /** The host pids in it, without those of its children. */
  procs(): number[];
  /** Freezes every process in it and below, and waits until they are (default 2000 ms). */
  freeze(options?: WaitOptions): Promise<void>;
  thaw(options?: WaitOptions): Promise<void>;
  /** SIGKILL to every process in it and below by cgroup.kill, then waits until it is empty (default 5000 ms). */
  kill(options?: WaitOptions): Promise<void>;
  /** Waits for the last process in it and below to end, by events (default 5000 ms). */
  waitEmpty(options?: WaitOptions): Promise<void>;
  /**
   * Removes it from the leaves up, and then each parent that was named with it and is empty. One that is gone
   * already is no error; one with processes is `NOT_EMPTY`.
   */
  remove(options?: WaitOptions): Promise<void>;
  events(): GroupEvents;
  stats(): GroupStats;
}

/** Where a group is, for {@link createGroup} and {@link openGroup}. */
export interface GroupSpec {
  readonly hierarchy: Hierarchy;
  /** Its names from the hierarchy's root down, such as `["drums", id]`. */
  readonly path: readonly string[];
}

/** Another process may remove an emptied parent between our two mkdirs; then we begin anew. */
const CREATE_ATTEMPTS = 10;

/**
 * Creates a group. Parents that are missing are created with it; the group itself must be new.
 *
 * @throws CgroupError `NO_HIERARCHY`, `BAD_PATH`, `GROUP_EXISTS`, `REFUSED`
 */
export async function createGroup(spec: GroupSpec): Promise<Group> {
  const group = describeGroup(spec);
  const { files } = spec.hierarchy;
  for (let attempt = 1; ; attempt++) {
    try {
      for (const parent of parentFolders(group)) ignoring(["EEXIST"], () => files.mkdir(parent));
      files.mkdir(group.path);
      return group;
    } catch (error) {
      if (!(error instanceof CgroupError)) throw error;
      if (error.errno === "EEXIST") throw exists(group, error);
      if (error.errno !== "ENOENT" || attempt === CREATE_ATTEMPTS) throw error;
    }
  }
}

/**
 * Opens a group that is there, such as one that an ended process left.
 *
 * @throws CgroupError `NO_HIERARCHY`, `BAD_PATH`, `NO_GROUP`
 */
export async function openGroup(spec: GroupSpec): Promise<Group> {
  const group = describeGroup(spec);
  try {
    group.events();
  } catch (cause) {
    if (!(cause instanceof CgroupError) || cause.errno !== "ENOENT") throw cause;
    throw new CgroupError("NO_GROUP", `there is no group ${group.path}`, {
      hint: "create it, or check its name",
      path: group.path,
      cause,
    });
  }
  return group;
}

function describeGroup({ hierarchy, path: parts }: GroupSpec): Group {
  const root = mountPointOf(hierarchy);
  checkParts(parts);
  const path = join(root, ...parts);
  const { files } = hierarchy;
  const control = (name: string) => join(path, name);
  const group: Group = {
    hierarchy,
    path,
    // The mount's root may be "/.." where it lies outside our cgroup namespace: join() would lose that.
    relative: `${hierarchy.mountRoot === "/" ? "" : hierarchy.mountRoot}/${parts.join("/")}`,
    parts,
    openFd: () => openFolder(path),
    add: (pid) => files.write(control("cgroup.procs"), String(pid)),
    procs: () => parsePids(files.read(control("cgroup.procs"))),
    freeze: (options) => freezeGroup(group, options),
    thaw: (options) => thawGroup(group, options),
    kill: (options) => killGroup(group, options),
    waitEmpty: (options) => waitUntilEmpty(group, options),
    remove: (options) => removeGroup(group, options),
    events: () => parseEvents(files.read(control("cgroup.events"))),
    stats: () => readStats(files, path),
  };
  return group;
}

function parsePids(text: string): number[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map(Number);
}

function openFolder(path: string): number {
  try {
    // libuv adds O_CLOEXEC to every open.
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    throw refused(error, `open the group ${path}`, path, "open");
  }
}

function exists(group: Group, cause: CgroupError): CgroupError {
  return new CgroupError("GROUP_EXISTS", `the group ${group.path} is there already`, {
    hint: "choose another name, or remove what an ended session left",
    path: group.path,
    errno: "EEXIST",
    syscall: "mkdir",
    cause,
  });
}
