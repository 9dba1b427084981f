import { release } from "node:os";
import type { CheckpointFlags } from "../checkpoint/options.js";
import { DEFAULT_VERSION } from "../install/pins.js";
import { compareVersions, dottedNumbers } from "../install/version.js";
import proven from "./proven.json" with { type: "json" };

/**
 * What a finding means for a checkpoint.
 * - `refuses`: CRIU fails the dump, or a restore of it.
 * - `may-refuse`: it does so in some states of the object that /proc does not tell apart.
 * - `loses`: the dump succeeds and something is gone in the siblings.
 * - `slow`: the dump takes seconds longer.
 * - `isolates-badly`: CRIU takes it, but it ties the session to its host.
 */
export type Severity = "refuses" | "may-refuse" | "loses" | "slow" | "isolates-badly";

/** An option of a dump that takes a finding away: a flag's value, or naming the mount as an external. */
export type RuleOption = Partial<CheckpointFlags> | "externals";

/** One rule of the audit. Data alone: the checks refer to it by id. */
export interface Rule {
  readonly severity: Severity;
  /** What is wrong, as a sentence without its object. */
  readonly title: string;
  /** What to do: an option to set, or a change to the session. */
  readonly remedy: string;
  /** The option that the remedy names, where there is one. */
  readonly option?: RuleOption;
  /** Versions of CRIU for which the severity is another; `passes` where they take it. */
  readonly versions?: Readonly<Record<string, Severity | "passes">>;
  /** The oldest kernel on which the rule holds. Absent: no kernel is known on which it does not. */
  readonly kernelFrom?: string;
}

/** A CRIU and a kernel on which a rule was proven. */
export interface Proof {
  readonly criu: string;
  readonly kernel: string;
}

/** Every rule by its id. */
export const RULES = {
  "mount-unsupported": {
    severity: "refuses",
    title: "CRIU does not know this kind of filesystem",
    remedy: "Unmount it, or bind it from the host and name it as an external",
  },
  "mount-fuse": {
    severity: "refuses",
    title: "A fuse filesystem cannot be dumped",
    remedy: "Unmount it; keep /dev/fuse out of the session, so that gvfs and portals do not mount one",
  },
  "mount-external": {
    severity: "refuses",
    title: "The mount shows part of a filesystem whose root is not in the session",
    remedy: "Name it among the externals of dump and restore, or unmount it",
    option: "externals",
  },
  "mount-nsfs": {
    severity: "refuses",
    title: "A namespace file is bound into the session",
    remedy: "Unmount it before the checkpoint",
  },
  "mount-overlay": {
    severity: "refuses",
    title: "An overlay lies on folders of the session: a restore looks for them on the host",
    remedy: "Unmount it before the checkpoint",
  },
  "mount-overmounted-root": {
    severity: "refuses",
    title: "The root is mounted over",
    remedy: "Pivot into the new root instead of mounting over /",
  },
  "mount-dropped": {
    severity: "loses",
    title: "CRIU leaves this kind of filesystem out: it is not mounted in the siblings",
    remedy: "Leave it out of the session's plan",
  },
  "mount-host-view": {
    severity: "isolates-badly",
    title: "The filesystem shows or changes the host's own state",
    remedy: "Leave it out of the session's plan, or mount it read-only",
  },
  "mount-propagation": {
    severity: "isolates-badly",
    title: "The mount receives mounts from a group outside the session",
    remedy: "Make / recursively private before anything is mounted",
  },
  "mount-field-record": {
    severity: "refuses",
    title: "This kind is on the field record's list, whatever CRIU does with it",
    remedy: "Leave it out of the session's plan, or audit without the strict profile",
  },
  "mqueue-content": {
    severity: "refuses",
    title: "A POSIX message queue exists",
    remedy: "Unlink the queue before the checkpoint",
  },
  "descriptor-foreign-mount": {
    severity: "refuses",
    title: "The descriptor lies on a mount outside the session",
    remedy: "Close inherited descriptors before the session's first program (close_range)",
  },
  "descriptor-anon": {
    severity: "refuses",
    title: "CRIU cannot save this kernel object",
    remedy: "Refuse it by seccomp (the hardened profile does), so that programs do without",
  },
  "descriptor-device": {
    severity: "refuses",
    title: "CRIU cannot save an open device of this kind",
    remedy: "Keep the node out of the session's /dev",
  },
  "descriptor-tun": {
    severity: "refuses",
    title: "A tun interface belongs to a net namespace that the dump leaves out",
    remedy: "Dump with emptyNet set to false",
    option: { emptyNet: false },
  },
  "descriptor-mqueue": {
    severity: "refuses",
    title: "An open POSIX message queue cannot be dumped",
    remedy: "Close the queue before the checkpoint",
  },
  "pipe-packets": {
    severity: "refuses",
    title: "A pipe keeps the borders of packets (O_DIRECT)",
    remedy: "End the program that made it, or let it use a socket pair",
  },
  "memfd-sealed-mapped": {
    severity: "may-refuse",
    title:
      "A memfd is mapped shared and can no longer be written: a restore fails where that is by F_SEAL_WRITE",
    remedy: "None is known: let that program end before the checkpoint",
  },
  "tty-opened-twice": {
    severity: "refuses",
    title: "/dev/tty is open, and the terminal behind it is held by another process too",
    remedy: "End the program in the terminal, such as a pager, before the checkpoint",
  },
  "inotify-no-handle": {
    severity: "refuses",
    title: "A watch lies on a filesystem that gives no file handles",
    remedy: "End the watch before the checkpoint",
  },
  "inotify-overlay": {
    severity: "refuses",
    title: "A watch lies on an overlay without nfs_export (4.3 finds it by a walk: seconds for a desktop)",
    remedy: "Mount the overlay with index=on,nfs_export=on",
    versions: { "4.3": "slow" },
  },
  "inotify-deleted": {
    severity: "refuses",
    title: "A watch lies on a file or folder that is deleted and still open",
    remedy: "Close what is deleted before the checkpoint",
    versions: { "4.3": "passes" },
  },
  "fanotify-filesystem": {
    severity: "loses",
    title: "A fanotify mark covers a whole filesystem: siblings go without it",
    remedy: "Mark mounts or folders instead",
  },
  "ghost-size": {
    severity: "refuses",
    title: "An open file without a name is larger than the ghost limit",
    remedy: "Raise ghostLimitBytes",
    option: { ghostLimitBytes: Number.MAX_SAFE_INTEGER },
  },
  "link-remap": {
    severity: "refuses",
    title: "An open file's name is gone while another hard link remains",
    remedy: "Dump with linkRemap",
    option: { linkRemap: true },
  },
  "file-lock": {
    severity: "refuses",
    title: "A file lock or lease is held",
    remedy: "Dump with fileLocks",
    option: { fileLocks: true },
  },
  "tmpfs-bytes": {
    severity: "slow",
    title: "A tmpfs holds much data, which is packed by tar and gzip while all is frozen",
    remedy: "Keep large files on the upper",
  },
  "socket-foreign": {
    severity: "refuses",
    title: "The socket was made outside the session, or its peer is there",
    remedy:
      "Let the host's connections end, and give the session's programs files instead of sockets for stdio",
  },
  "socket-outside-holder": {
    severity: "refuses",
    title: "A process outside the dumped tree holds a socket of the session's network",
    remedy: "Let what was entered from outside end before the checkpoint",
  },
  "socket-protocol": {
    severity: "refuses",
    title: "CRIU does not know this kind of socket",
    remedy: "Refuse the family by seccomp (the hardened profile does), or let the program close it",
  },
  "socket-passcred": {
    severity: "refuses",
    title: "This CRIU asks every socket for SO_PASSCRED, which this kernel knows of unix sockets alone",
    remedy: "Use CRIU 4.2.1 or newer",
    versions: { "4.2.1": "passes", "4.3": "passes" },
    kernelFrom: "6.18",
  },
  "socket-unaccepted": {
    severity: "may-refuse",
    title: "A unix connection waits to be accepted: the dump is refused where data was sent already",
    remedy: "Dump again a little later",
  },
  "netlink-queued": {
    severity: "refuses",
    title: "An answer waits in a netlink socket",
    remedy: "Dump again a little later",
  },
  "tcp-established": {
    severity: "refuses",
    title: "A TCP connection is open",
    remedy: "Dump with tcpEstablished or tcpClose, or let it close",
    option: { tcpEstablished: true },
  },
  "tcp-unaccepted": {
    severity: "refuses",
    title: "A TCP connection waits to be accepted",
    remedy: "Dump again a little later",
  },
  "tcp-half-closed": {
    severity: "loses",
    title: "A TCP connection is shut in one direction: siblings find the other one broken",
    remedy: "Let it close before the checkpoint",
  },
  "tcp-closed": {
    severity: "loses",
    title: "A TCP connection is open: the session keeps it, and siblings find it closed",
    remedy: "Nothing, where its program connects again; else let it close before the checkpoint",
  },
  "udp-queued": {
    severity: "loses",
    title: "Datagrams wait in a UDP socket",
    remedy: "Dump again a little later",
  },
  "net-interface": {
    severity: "loses",
    title: "The session has a network interface beside lo, and the dump leaves its net namespace out",
    remedy: "Dump with the flag emptyNet set to false",
    option: { emptyNet: false },
  },
  "namespace-nested": {
    severity: "refuses",
    title: "A process made a namespace of its own",
    remedy: "Start the program without its sandbox",
  },
  "namespace-net": {
    severity: "refuses",
    title: "A process made a net namespace of its own, and the dump leaves net namespaces out",
    remedy: "Dump with emptyNet set to false",
    option: { emptyNet: false },
  },
  "browser-sandbox": {
    severity: "refuses",
    title: "A browser's sandbox stands in namespaces of its own",
    remedy: "Start the browser without its sandbox (Chromium, Electron: --no-sandbox)",
  },
  "task-traced": {
    severity: "refuses",
    title: "The process is traced",
    remedy: "Detach the tracer",
  },
  "task-uninterruptible": {
    severity: "refuses",
    title:
      "The process waits in the kernel and cannot be stopped (state D): for a disk, or for a vfork's child",
    remedy: "Dump again a little later",
  },
  "task-outside-tree": {
    severity: "loses",
    title:
      "A process in the session's pid namespace does not descend from its init: it is silently not dumped",
    remedy: "Start it through init, or let it end before the checkpoint",
  },
  "task-leader-outside": {
    severity: "refuses",
    title: "The process belongs to a terminal session whose leader is outside",
    remedy: "Call setsid in the session's init before anything is started",
  },
  "task-ended": {
    severity: "refuses",
    title: "A process that has ended is still referred to, and this CRIU cannot restore one for it",
    remedy: "Use CRIU 4.2.1 or newer",
    versions: { "4.2.1": "passes", "4.3": "passes" },
  },
  "task-affinity": {
    severity: "loses",
    title: "The process may run on some processors only: in a sibling it may run on all",
    remedy: "Set it again in the siblings, or limit the session by its cgroup",
  },
  "task-timer-slack": {
    severity: "loses",
    title: "The process has a timer slack of its own: in a sibling it has the default",
    remedy: "Set it again in the siblings",
    versions: { "4.3": "passes" },
  },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;

/** Where each rule was proven: written by a run of the corpus, rule by rule. */
const PROVEN: Readonly<Record<string, readonly Proof[]>> = proven;

/** The process a finding concerns. */
export interface FindingProcess {
  /** Host pid. */
  readonly pid: number;
  /** Pid inside the session, where it has one. */
  readonly innerPid?: number;
  readonly name: string;
}

/** One thing that stands in a checkpoint's way, or is worth knowing of it. */
export interface Finding extends Rule {
  readonly rule: RuleId;
  /** Absent where the finding concerns the session as a whole. */
  readonly process?: FindingProcess;
  /** The mount point, path, descriptor, socket or namespace. */
  readonly object: string;
  /** The CRIU versions and kernels for which a run of the corpus proved the rule. */
  readonly provenOn: readonly Proof[];
}

/** A finding of a rule, as severe as the default version of CRIU takes it. */
export function finding(rule: RuleId, object: string, process?: FindingProcess): Finding {
  return {
    rule,
    ...(RULES[rule] as Rule),
    object,
    provenOn: provenOn(rule),
    ...(process === undefined ? {} : { process: identityOf(process) }),
  };
}

/** Where a run of the corpus proved a rule. */
export function provenOn(rule: RuleId): readonly Proof[] {
  return PROVEN[rule] ?? [];
}

/** What a rule is asked for. */
export interface RuleGround {
  /** Default {@link DEFAULT_VERSION}. */
  readonly criuVersion?: string | undefined;
  /** Release of the kernel. Default: this machine's. */
  readonly kernel?: string | undefined;
}

/** How severe a rule is for a CRIU on a kernel; `passes` where they take the object. */
export function severityFor(
  { severity, versions, kernelFrom }: Rule,
  { criuVersion = DEFAULT_VERSION, kernel = release() }: RuleGround = {},
): Severity | "passes" {
  if (kernelFrom !== undefined && compareVersions(dottedNumbers(kernel), kernelFrom) < 0) return "passes";
  return versions?.[criuVersion] ?? severity;
}

/** Findings with the severity that a CRIU and a kernel give them; what they take is left out. */
export function forGround(findings: readonly Finding[], ground: RuleGround): Finding[] {
  return findings.flatMap((one) => {
    const severity = severityFor(one, ground);
    return severity === "passes" ? [] : [{ ...one, severity }];
  });
}

function identityOf({ pid, innerPid, name }: FindingProcess): FindingProcess {
  return { pid, ...(innerPid === undefined ? {} : { innerPid }), name };
}
