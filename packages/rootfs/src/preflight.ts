import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { probeNbd } from "./mount/nbd.js";
import { type RootSystem, realSystem } from "./mount/system.js";

/** One thing that this machine can or cannot do. */
export interface PreflightItem {
  readonly name: string;
  readonly status: "ok" | "gap" | "blocker";
  readonly detail: string;
  /** For a gap or blocker: what to do. */
  readonly remedy?: string;
}

export interface PreflightOptions {
  /** Default /proc. */
  readonly proc?: string;
  /** Default: the machine. */
  readonly system?: RootSystem;
}

/** Looks whether images can be mounted here, and in which way. Changes nothing but, perhaps, to load the nbd module. */
export async function preflight({
  proc = "/proc",
  system = realSystem,
}: PreflightOptions = {}): Promise<PreflightItem[]> {
  const filesystems = await readFile(join(proc, "filesystems"), "utf8").catch(() => "");
  const known = new Set(filesystems.split("\n").map((line) => line.split("\t").at(-1)));
  return [
    root(),
    filesystem(known, "overlay", "blocker"),
    filesystem(known, "ext4", "blocker"),
    await program(system, "qemu-img", "qemu-utils", "blocker"),
    await program(system, "qemu-io", "qemu-utils", "blocker"),
    await program(system, "e2fsck", "e2fsprogs", "gap"),
    await program(system, "dpkg-deb", "dpkg", "gap"),
    await program(system, "cp", "coreutils", "blocker"),
    ...(await ways(system)),
  ];
}

function root(): PreflightItem {
  if (process.getuid?.() === 0) return { name: "root", status: "ok", detail: "running as root" };
  return {
    name: "root",
    status: "blocker",
    detail: `running as uid ${process.getuid?.()}`,
    remedy: "Run as root: mounting needs CAP_SYS_ADMIN.",
  };
}

function filesystem(
  known: ReadonlySet<string | undefined>,
  name: string,
  status: "gap" | "blocker",
): PreflightItem {
  if (known.has(name)) return { name, status: "ok", detail: "the kernel has it" };
  return { name, status, detail: "not in /proc/filesystems", remedy: `Load it: modprobe ${name}.` };
}

async function program(
  system: RootSystem,
  name: string,
  debianPackage: string,
  status: "gap" | "blocker",
): Promise<PreflightItem> {
  if (await system.onPath(name)) return { name, status: "ok", detail: "on PATH" };
  return { name, status, detail: "not on PATH", remedy: `Install ${debianPackage}.` };
}

/** A qcow2 needs one of three ways; without a loop device there is none. */
async function ways(system: RootSystem): Promise<PreflightItem[]> {
  const loop = await system.exists("/dev/loop-control");
  const fuse = await system.exists("/dev/fuse");
  const nbd = await probeNbd(system);
  const missing = {
    "fuse-export": fuse ? await absent(system, "qemu-storage-daemon") : NO_FUSE,
    "nbd-fuse": fuse ? await absent(system, "qemu-nbd", "nbdfuse") : NO_FUSE,
  };
  const anyWorks = [nbd, ...Object.values(missing)].includes(undefined);
  return [
    loop
      ? { name: "loop", status: "ok", detail: "/dev/loop-control is there" }
      : {
          name: "loop",
          status: "blocker",
          detail: "/dev/loop-control is missing",
          remedy: "Load it: modprobe loop; in a container, pass /dev/loop-control and /dev/loop*.",
        },
    nbd === undefined
      ? { name: "nbd", status: "ok", detail: "/dev/nbd0 is there" }
      : {
          name: "nbd",
          status: "gap",
          detail: nbd,
          remedy: anyWorks
            ? "None needed: images are served by FUSE, somewhat slower."
            : "Load it: modprobe nbd.",
        },
    fuseWay("fuse-export", missing["fuse-export"], anyWorks),
    // One of both is enough: the storage daemon is the one to install.
    fuseWay("nbd-fuse", missing["nbd-fuse"], true),
  ];
}

const NO_FUSE = {
  detail: "/dev/fuse is missing",
  remedy: "Load it: modprobe fuse; in a container, pass /dev/fuse.",
};

const PACKAGES = {
  "qemu-storage-daemon": "qemu-system-common",
  "qemu-nbd": "qemu-utils",
  nbdfuse: "libnbd-bin",
} as const;

/** What the first missing program of a way is, and where it is had. */
async function absent(system: RootSystem, ...programs: (keyof typeof PACKAGES)[]) {
  for (const name of programs)
    if (!(await system.onPath(name)))
      return { detail: `${name} is not on PATH`, remedy: `Install ${PACKAGES[name]}.` };
  return undefined;
}

function fuseWay(name: string, lacks: typeof NO_FUSE | undefined, anyWorks: boolean): PreflightItem {
  if (lacks === undefined) return { name, status: "ok", detail: "/dev/fuse and its programs are there" };
  return { name, status: anyWorks ? "gap" : "blocker", ...lacks };
}
