import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** What live processes hold of a user's inotify. */
export interface InotifyUse {
  readonly instances: number;
  readonly watches: number;
}

/**
 * Counts the inotify instances and watches that are charged to a uid of the host: its processes' own, and those in user
 * namespaces that it made. One that two processes share counts twice. A process that ends meanwhile counts for nothing.
 * @param options.proc  default "/proc"
 */
export function inotifyUse(uid: number, { proc = "/proc" }: { readonly proc?: string } = {}): InotifyUse {
  const own = linkOf(`${proc}/self/ns/user`);
  const use = { instances: 0, watches: 0 };
  for (const pid of readdirSync(proc).filter((name) => /^\d+$/.test(name))) {
    const namespace = linkOf(`${proc}/${pid}/ns/user`);
    // Whose namespaces below the host's are is not to be read; those of sessions are root's.
    const charged = namespace === own ? uidOf(`${proc}/${pid}`) : 0;
    if (namespace === undefined || charged !== uid) continue;
    for (const fd of instancesOf(`${proc}/${pid}`)) {
      use.instances += 1;
      use.watches += watchesOf(`${proc}/${pid}/fdinfo/${fd}`);
    }
  }
  return use;
}

function instancesOf(process: string): string[] {
  try {
    return readdirSync(`${process}/fd`).filter(
      (fd) => linkOf(`${process}/fd/${fd}`) === "anon_inode:inotify",
    );
  } catch {
    return [];
  }
}

function watchesOf(fdinfo: string): number {
  try {
    return readFileSync(fdinfo, "utf8").match(/^inotify wd:/gm)?.length ?? 0;
  } catch {
    return 0;
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function uidOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined;
  }
}
