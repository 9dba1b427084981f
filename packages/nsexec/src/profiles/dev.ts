import type { MountStep } from "../plan/schema.js";

/** Character devices that hold nothing of the host. /dev/fuse is not among them: gvfs would mount with it. */
const NODES: ReadonlyArray<readonly [name: string, major: number, minor: number]> = [
  ["null", 1, 3],
  ["zero", 1, 5],
  ["full", 1, 7],
  ["random", 1, 8],
  ["urandom", 1, 9],
  ["tty", 5, 0],
];

const LINKS: ReadonlyArray<readonly [name: string, target: string]> = [
  ["ptmx", "pts/ptmx"],
  ["fd", "/proc/self/fd"],
  ["stdin", "/proc/self/fd/0"],
  ["stdout", "/proc/self/fd/1"],
  ["stderr", "/proc/self/fd/2"],
];

/**
 * A tmpfs of the host at `target` with a session's device nodes, owned by the root of the user namespace
 * at `base`. No node can be made inside a user namespace, so this one is bound in, and not from under the
 * merged root: a mount inherited there is locked, and a restore fails on it.
 */
export function deviceSteps(target: string, base: number): MountStep[] {
  return [
    { kind: "folder", path: target },
    tmpfs(target, `mode=755,size=64k,uid=${base},gid=${base}`),
    ...contents(target, base),
  ];
}

/** The session's own /dev: a bind of `hostPath` where there is one, else a tmpfs made in place. */
export function devSteps(hostPath: string | undefined): MountStep[] {
  const own: MountStep[] = hostPath
    ? [{ kind: "bind", source: hostPath, target: "/dev" }]
    : [tmpfs("/dev", "mode=755,size=64k"), ...contents("/dev", 0)];
  return [{ kind: "folder", path: "/dev" }, ...own, devpts()];
}

function contents(target: string, owner: number): MountStep[] {
  const ids = { uid: owner, gid: owner };
  return [
    ...NODES.map(
      ([name, major, minor]): MountStep => ({
        kind: "node",
        path: `${target}/${name}`,
        major,
        minor,
        mode: 0o666,
        ...ids,
      }),
    ),
    ...LINKS.map(([name, to]): MountStep => ({ kind: "link", path: `${target}/${name}`, target: to })),
    ...["pts", "shm", "mqueue"].map(
      (name): MountStep => ({ kind: "folder", path: `${target}/${name}`, ...ids }),
    ),
  ];
}

function tmpfs(target: string, data: string): MountStep {
  return { kind: "mount", fsType: "tmpfs", source: "dev", target, options: ["nosuid", "noexec"], data };
}

/** gid 5 is tty in Debian's base-passwd. */
function devpts(): MountStep {
  return {
    kind: "mount",
    fsType: "devpts",
    source: "devpts",
    target: "/dev/pts",
    options: ["nosuid", "noexec"],
    data: "newinstance,ptmxmode=0666,mode=0620,gid=5",
  };
}
