import { parseMeminfo } from "../capacity/meminfo.js";
import { itemWhen, type PreflightItem } from "./items.js";
import type { Machine } from "./machine.js";

/** What the host's items are about. */
export interface HostRequest {
  /** Path of DRUMS_HOME. */
  readonly home: string;
  /** How many siblings are to live at a time beside their original. */
  readonly siblings: number;
}

interface HostProgram {
  readonly name: string;
  /** Debian's package. */
  readonly package: string;
  readonly for: string;
  /** `gap` where only some commands need it. */
  readonly status: "gap" | "blocker";
}

const PROGRAMS: readonly HostProgram[] = [
  { name: "qemu-storage-daemon", package: "qemu-utils", for: "reading a qcow2", status: "blocker" },
  { name: "mount", package: "mount", for: "mounting a root", status: "blocker" },
  { name: "cp", package: "coreutils", for: "copying an upper", status: "blocker" },
  { name: "dpkg-deb", package: "dpkg", for: "the X server's layer", status: "blocker" },
  { name: "apt-get", package: "apt", for: "fetching pinned packages", status: "gap" },
  { name: "qemu-img", package: "qemu-utils", for: "`drums image build`", status: "gap" },
  { name: "mmdebstrap", package: "mmdebstrap", for: "`drums image build`", status: "gap" },
  { name: "mke2fs", package: "e2fsprogs", for: "`drums image build`", status: "gap" },
  { name: "unshare", package: "util-linux", for: "`drums image build`", status: "gap" },
  { name: "ip", package: "iproute2", for: "CRIU's restore", status: "blocker" },
  { name: "tar", package: "tar", for: "CRIU's tmpfs content", status: "blocker" },
  { name: "gzip", package: "gzip", for: "CRIU's tmpfs content", status: "blocker" },
];

const MIB = 1024 * 1024;

/** Seen with openbox: a session holds 60–90 MB, a checkpoint 40–60 MB, an image build 0.9 GB at its peak. */
const MEMORY_MIB = { least: 256, base: 512, perSession: 128 } as const;
const DISK_MIB = { least: 256, base: 1536, perSession: 64 } as const;

/** One for the bus, some for the desktop; all sessions of one shifted id count together. */
const INOTIFY_PER_SESSION = 8;

/** What the machine itself offers, whichever package asks. Reads only. */
export function hostItems({ home, siblings }: HostRequest, machine: Machine): PreflightItem[] {
  const sessions = siblings + 1;
  return [
    platformItem(machine),
    rootItem(machine),
    ...PROGRAMS.map((program) => programItem(program, machine)),
    ...deviceItems(machine),
    diskItem(home, sessions, machine),
    memoryItem(sessions, machine),
    inotifyItem(sessions, machine),
  ];
}

function platformItem({ platform }: Machine): PreflightItem {
  return itemWhen(platform === "linux x64", {
    name: "platform",
    ok: platform,
    otherwise: `${platform}; the pinned packages and seccomp filters are for linux x64`,
    remedy: "run on an x86_64 Linux machine",
    status: "blocker",
  });
}

function rootItem({ uid }: Machine): PreflightItem {
  return itemWhen(uid === 0, {
    name: "root",
    ok: "runs as root",
    otherwise: `runs as uid ${uid}; mounts, namespaces and CRIU need root`,
    remedy: "run as root, or with sudo",
    status: "blocker",
  });
}

function programItem(program: HostProgram, machine: Machine): PreflightItem {
  const path = machine.program(program.name);
  return itemWhen(path !== undefined, {
    name: program.name,
    ok: path ?? "",
    otherwise: `${program.name} is not on PATH; needed for ${program.for}`,
    remedy: `apt-get install ${program.package}`,
    status: program.status,
  });
}

/** A kernel NBD device stands in for both FUSE and loop; without it a qcow2 needs the two. */
function deviceItems(machine: Machine): PreflightItem[] {
  const status = machine.exists("/sys/block/nbd0") ? "gap" : "blocker";
  const device = (path: string, name: string, module: string) =>
    itemWhen(machine.exists(path), {
      name,
      ok: path,
      otherwise: `${path} is missing`,
      remedy: `modprobe ${module}; in a container, pass ${path} in`,
      status,
    });
  return [device("/dev/fuse", "fuse device", "fuse"), device("/dev/loop-control", "loop devices", "loop")];
}

function diskItem(home: string, sessions: number, machine: Machine): PreflightItem {
  const free = Math.floor(machine.freeBytes(home) / MIB);
  const wanted = DISK_MIB.base + sessions * DISK_MIB.perSession;
  return itemWhen(free >= wanted, {
    name: "disk space",
    ok: `${free} MiB free for ${home}`,
    otherwise: `${free} MiB free for ${home}; an image build and ${sessions} sessions want ${wanted} MiB`,
    remedy: "free space there, or name another folder by DRUMS_HOME or --home",
    status: free < DISK_MIB.least ? "blocker" : "gap",
  });
}

function memoryItem(sessions: number, machine: Machine): PreflightItem {
  const memory = parseMeminfo(machine.read("/proc/meminfo"));
  const available = memory && Math.floor(memory.available / MIB);
  const wanted = MEMORY_MIB.base + sessions * MEMORY_MIB.perSession;
  return itemWhen(available !== undefined && available >= wanted, {
    name: "memory",
    ok: `${available} MiB available`,
    otherwise: `${available ?? "unknown"} MiB available; ${sessions} sessions want ${wanted} MiB`,
    remedy: "end other programs, or ask for fewer siblings",
    status: available !== undefined && available < MEMORY_MIB.least ? "blocker" : "gap",
  });
}

function inotifyItem(sessions: number, machine: Machine): PreflightItem {
  const file = "/proc/sys/fs/inotify/max_user_instances";
  const most = Number(machine.read(file)?.trim() || Number.NaN);
  const wanted = sessions * INOTIFY_PER_SESSION;
  return itemWhen(most >= wanted, {
    name: "inotify instances",
    ok: `${most} for a user`,
    otherwise: `${most} for a user; ${sessions} sessions want ${wanted}`,
    remedy: `sysctl fs.inotify.max_user_instances=${Math.max(512, wanted)}`,
    status: "gap",
  });
}
