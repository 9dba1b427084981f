/**
 * What a finding means for a checkpoint.
 * - `refuses`: CRIU fails the dump, or a restore of it.
 * - `loses`: the dump succeeds and something is gone in the siblings.
 * - `slow`: the dump takes seconds longer.
 * - `isolates-badly`: CRIU takes it, but it ties the session to its host.
 */
export type Severity = "refuses" | "loses" | "slow" | "isolates-badly";

/** One rule of the audit. Data alone: the checks refer to it by id. */
export interface Rule {
  readonly severity: Severity;
  /** What is wrong, as a sentence without its object. */
  readonly title: string;
  readonly remedy: string;
  /** The CRIU versions for which this was tried and came out so. */
  readonly triedOn: readonly string[];
}

const ALL = ["4.1.1", "4.2.1", "4.3"] as const;
const DEFAULT = ["4.2.1"] as const;

/** Every rule by its id. */
export const RULES = {
  "mount-unsupported": {
    severity: "refuses",
    title: "CRIU does not know this kind of filesystem",
    remedy: "Unmount it, or bind it from the host and name it as an external",
    triedOn: ALL,
  },
  "mount-fuse": {
    severity: "refuses",
    title: "A fuse filesystem cannot be dumped",
    remedy: "Unmount it; keep /dev/fuse out of the session, so that gvfs and portals do not mount one",
    triedOn: ALL,
  },
  "mount-external": {
    severity: "refuses",
    title: "The mount shows part of a filesystem whose root is not in the session",
    remedy: "Name it among the externals of dump and restore, or unmount it",
    triedOn: ALL,
  },
  "mount-nsfs": {
    severity: "refuses",
    title: "A namespace file is bound into the session",
    remedy: "Unmount it before the checkpoint",
    triedOn: ALL,
  },
  "mount-overmounted-root": {
    severity: "refuses",
    title: "The root is mounted over",
    remedy: "Pivot into the new root instead of mounting over /",
    triedOn: ALL,
  },
  "mount-host-view": {
    severity: "isolates-badly",
    title: "The filesystem shows or changes the host's own state",
    remedy: "Leave it out of the session's plan, or mount it read-only",
    triedOn: ALL,
  },
  "mount-propagation": {
    severity: "isolates-badly",
    title: "The mount receives mounts from a group outside the session",
    remedy: "Make / recursively private before anything is mounted",
    triedOn: ALL,
  },
  "descriptor-foreign-mount": {
    severity: "refuses",
    title: "The descriptor lies on a mount outside the session",
    remedy: "Close inherited descriptors before the session's first program (close_range)",
    triedOn: ALL,
  },
  "descriptor-anon": {
    severity: "refuses",
    title: "CRIU cannot save this kernel object",
    remedy: "Refuse it by seccomp (the hardened profile does), so that programs do without",
    triedOn: ALL,
  },
  "descriptor-device": {
    severity: "refuses",
    title: "CRIU cannot save an open device of this kind",
    remedy: "Keep the node out of the session's /dev",
    triedOn: ALL,
  },
  "descriptor-mqueue": {
    severity: "refuses",
    title: "An open POSIX message queue cannot be dumped",
    remedy: "Close the queue before the checkpoint",
    triedOn: ALL,
  },
  "inotify-no-handle": {
    severity: "refuses",
    title: "An inotify watch lies on a filesystem that gives no file handles",
    remedy: "End the watch before the checkpoint",
    triedOn: ALL,
  },
  "inotify-overlay": {
    severity: "refuses",
    title: "An inotify watch lies on an overlay without nfs_export (4.3 dumps it by a walk of 6 to 14 s)",
    remedy: "Mount the overlay with index=on,nfs_export=on",
    triedOn: DEFAULT,
  },
  "ghost-size": {
    severity: "refuses",
    title: "An open file without a name is larger than the ghost limit",
    remedy: "Raise ghostLimitBytes",
    triedOn: ALL,
  },
  "tmpfs-bytes": {
    severity: "slow",
    title: "A tmpfs holds much data, which is packed by tar and gzip while all is frozen",
    remedy: "Keep large files on the upper",
    triedOn: DEFAULT,
  },
  "socket-foreign": {
    severity: "refuses",
    title: "The socket was made outside the session",
    remedy: "Give the session's programs files instead of sockets for stdio",
    triedOn: ALL,
  },
  "socket-outside-holder": {
    severity: "refuses",
    title: "A process outside the dumped tree holds a socket of the session's network",
    remedy: "Let what was entered from outside end before the checkpoint",
    triedOn: ALL,
  },
  "socket-unaccepted": {
    severity: "loses",
    title: "Connections wait to be accepted: they are lost, or refuse the dump where data was sent already",
    remedy: "Dump again a little later",
    triedOn: ALL,
  },
  "tcp-established": {
    severity: "refuses",
    title: "A TCP connection is established",
    remedy: "Dump with tcpEstablished, or let it close",
    triedOn: ALL,
  },
  "tcp-closed": {
    severity: "loses",
    title: "A TCP connection is open: the session keeps it, and siblings find it closed",
    remedy: "Nothing, where its program connects again; else let it close before the checkpoint",
    triedOn: DEFAULT,
  },
  "udp-queued": {
    severity: "loses",
    title: "Datagrams wait in a UDP socket",
    remedy: "Dump again a little later",
    triedOn: ALL,
  },
  "net-interface": {
    severity: "loses",
    title: "The session has a network interface beside lo, and the dump leaves its net namespace out",
    remedy: "Dump with the flag emptyNet set to false",
    triedOn: DEFAULT,
  },
  "namespace-nested": {
    severity: "refuses",
    title: "A process made a namespace of its own",
    remedy: "Start the program without its sandbox (Chromium: --no-sandbox)",
    triedOn: ALL,
  },
  "task-traced": {
    severity: "refuses",
    title: "The process is traced",
    remedy: "Detach the tracer",
    triedOn: ALL,
  },
  "task-outside-tree": {
    severity: "refuses",
    title:
      "A process in the session's pid namespace does not descend from its init: it is silently not dumped",
    remedy: "Start it through init, or let it end before the checkpoint",
    triedOn: ALL,
  },
  "task-leader-outside": {
    severity: "refuses",
    title: "The process belongs to a terminal session whose leader is outside",
    remedy: "Call setsid in the session's init before anything is started",
    triedOn: ALL,
  },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;

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
}

/** A finding of a rule. */
export function finding(rule: RuleId, object: string, process?: FindingProcess): Finding {
  return { rule, ...RULES[rule], object, ...(process === undefined ? {} : { process: identityOf(process) }) };
}

function identityOf({ pid, innerPid, name }: FindingProcess): FindingProcess {
  return { pid, ...(innerPid === undefined ? {} : { innerPid }), name };
}
