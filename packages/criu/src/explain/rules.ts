/** What CRIU was doing when it failed. */
export type Phase = "dump" | "restore" | "check";

/** One known failure: the log's own text, why it comes, and what to do. */
export interface FailureRule {
  readonly id: string;
  readonly pattern: RegExp;
  readonly cause: string;
  readonly remedy: string;
  /** Default: every phase. */
  readonly phases?: readonly Phase[];
  /**
   * What of the text names the process of a failed dump: a host pid (`pid`), a descriptor (`fd`, with what it is open on
   * as `on`), a socket's inode (`socket`), or a file that it has open (`path`), by the pattern's groups.
   */
  readonly named?: "pid" | "fd" | "socket" | "path";
  /** The moment passes by itself: the same dump or restore succeeds a little later. */
  readonly passes?: boolean;
}

/** Failures that were met and understood. Of rules that know the same line the first one explains it. */
export const FAILURES: readonly FailureRule[] = [
  {
    id: "disk-full",
    pattern: /No space left on device/,
    cause: "The disk (or tmpfs) that takes the images, or an upper, is full",
    remedy: "Free room or name another folder; the dumped session runs on",
  },
  {
    id: "rlimit-refused",
    pattern: /Can't get rlimit \d+: Operation not permitted/,
    cause: "This process has no CAP_SYS_RESOURCE, so the kernel refuses it other processes' limits",
    remedy:
      "Use the private bundle: it answers such reads from /proc by a preload shim (a C compiler is needed at install)",
  },
  {
    id: "network-lock",
    pattern: /Locking network failed|iptables-restore returned -?\d+/,
    cause: "CRIU's default network lock wants iptables",
    remedy: "Use network lock skip (drums does) or nftables",
  },
  {
    id: "inotify-handle",
    pattern: /fsnotify:.*Can't dump that handle|Can't dump that handle/,
    cause:
      "An inotify watch lies on a filesystem that cannot give file handles (an overlay without nfs_export, /proc, /sys)",
    remedy: "Mount the overlay with index=on,nfs_export=on, or end the watcher of /proc or /sys",
  },
  {
    id: "stale-overlay",
    pattern: /mount overlay.*Stale file handle|overlay.*Stale (NFS )?file handle/,
    cause: "The upper was used with another lower before",
    remedy: "Give every stack of layers a fresh upper and work folder",
  },
  {
    id: "file-locks",
    pattern: /Some file locks are hold by dumping tasks/,
    cause: "A process holds file locks and the dump was not told to keep them",
    remedy: "Set file_locks at dump and restore (drums does)",
  },
  {
    id: "ghost-race",
    // open_path (criu/files-reg.c) puts the name that it made up back after it let go of its lock, in memory that all
    // restored processes share: the next one may read the made-up name, or a buffer that is empty with it.
    pattern: /Can't link (?<object>\S+\.ghost) -> (?:\S+\.cr_link)?: /,
    cause: "Two processes opened one deleted file at once, and CRIU took one's name of it for the other's",
    remedy: "Restore again, onto a fresh upper (drums does): it depends on the moment alone",
    phases: ["restore"],
    passes: true,
  },
  {
    id: "ghost-limit",
    pattern: /Can't dump ghost file (?<object>.+?) of (?<size>\d+) size, increase limit/,
    cause: "A process holds an unlinked file that is larger than the ghost limit",
    remedy: "Raise ghostLimitBytes",
    named: "path",
  },
  {
    id: "link-remap",
    pattern: /Can't create link remap for (?<object>.+?)(?:\. Use|$)/,
    cause: "A process holds a file whose name is gone while another hard link remains",
    remedy: "Set link_remap (drums does), on a writable upper",
    named: "path",
  },
  {
    id: "foreign-mount",
    pattern: /Can't lookup mount=(?<mount>\d+) for fd=(?<fd>-?\d+) path=(?<object>\S*)/,
    cause: "A process holds a descriptor on a mount outside its mount namespace: it leaked in from the host",
    remedy: "Close every inherited descriptor before the session's first program (close_range)",
    named: "path",
  },
  {
    id: "unix-foreign",
    pattern: /Unix socket (?<socket>\d+) not found/,
    cause:
      "A process holds a socket made outside the session: an inherited pair, or a host program connected into it",
    remedy: "Close the host's connections into the session, and give session programs no host sockets",
    named: "socket",
  },
  {
    id: "unix-external",
    pattern: /External socket is used|Can't dump half of stream unix connection/,
    cause: "One end of a unix connection belongs to a process outside the dumped tree",
    remedy: "Let the process that was entered from outside end, or start it through the session's init",
  },
  {
    id: "unix-in-flight",
    pattern:
      /(?:Non-empty write queue on an|Found a closed) in-flight socket(?: to)?(?: 0x(?<socketHex>[0-9a-f]+))?/,
    cause: "A unix connection was written to before the server accepted it",
    remedy: "Dump again: the moment passes as soon as the server accepts",
    named: "socket",
    passes: true,
  },
  {
    id: "nested-namespace",
    pattern: /Can't dump nested (?<object>\w+) namespace(?: for (?<pid>\d+))?/,
    cause: "A process made a namespace of its own inside the session (a browser's sandbox, bwrap)",
    remedy: "Start that program without its sandbox; nested mount and net namespaces are fine",
    named: "pid",
  },
  {
    id: "not-dumpable",
    pattern: /One or more namespaces doesn't belong to the target user namespace/,
    cause:
      "A process is closed to CRIU's look from inside the session's user namespace: it is not dumpable (prctl PR_SET_DUMPABLE) and was restored before",
    remedy: "Leave the processes of a session dumpable, its init too, where siblings are to be dumped again",
    phases: ["dump"],
  },
  {
    id: "uninterruptible",
    pattern: /Unseizable non-zombie (?<pid>\d+) found, state D/,
    cause: "A process waits in the kernel and cannot be stopped: for a disk, or for a vfork's child",
    remedy: "Dump again: the moment passes when what it waits for comes",
    named: "pid",
    passes: true,
    phases: ["dump"],
  },
  {
    id: "traced",
    pattern: /Unseizable non-zombie (?<pid>\d+) found/,
    cause: "A process is traced already (a debugger, strace, another dump)",
    remedy: "Detach the tracer",
    named: "pid",
  },
  {
    id: "cgroup-set",
    pattern: /cg: No set \d+ found|Unable to mount tmpfs in \.criu\.cgyard/,
    cause: "The session has a cgroup namespace that CRIU tried to manage",
    remedy: "Use manage_cgroups IGNORE at dump and restore (drums does)",
  },
  {
    id: "memfd-seal",
    pattern: /Cannot apply seals on memfd/,
    cause: "A memfd with F_SEAL_WRITE has a shared mapping, which CRIU cannot rebuild",
    remedy: "None is known: let that program end before the checkpoint",
    phases: ["restore"],
  },
  {
    id: "io-uring",
    pattern: /Can't retrieve FDs from socket|send_fds failed \(-22\)|io_uring/,
    cause: "A process uses io_uring, whose descriptors cannot be passed",
    remedy: "Refuse io_uring by seccomp (the hardened profile does), so that programs fall back",
    phases: ["dump"],
  },
  {
    id: "anon-object",
    pattern: /Can't dump file (?<fd>\d+) of that type(?: \[\d+\] \((?:\w+ )?(?<object>.*)\))?/,
    cause: "A process holds a kernel object CRIU cannot save (userfaultfd, perf, bpf, landlock, a device)",
    remedy: "Run the audit: it names the object and the process; end it or refuse it by seccomp",
    named: "fd",
  },
  {
    id: "fuse-mount",
    pattern: /failed to dump fs (?<object>\S*) ?\(fuse\)/,
    cause: "A fuse filesystem is mounted in the session",
    remedy: "Keep /dev/fuse out of the session, or unmount it first",
  },
  {
    id: "mount-unsupported",
    pattern: /FS mnt (?<object>\S+) .*unsupported id/,
    cause: "A filesystem is mounted in the session whose kind CRIU does not know",
    remedy: "Unmount it, or bind it from the host and name it as an external",
  },
  {
    id: "mount-foreign-root",
    pattern: /(?<object>\S+).*doesn't have a proper root mount/,
    cause: "A bind mount shows a folder of a filesystem whose own root is not in the session",
    remedy: "Name the mount as an external at dump and restore, or unmount it",
  },
  {
    id: "veth",
    pattern: /Unknown peer net namespace|Can't restore link/,
    cause: "A veth interface ends outside the session",
    remedy: "Dump with an external veth and give every sibling its own name, or use lo only",
  },
  {
    id: "layer-changed",
    pattern: /File (?<object>.+?) has bad (?:size|mode) (?<found>\S+) \(expect (?<expected>\S+)\)/,
    cause: "A file of a lower layer is not what it was at the dump",
    remedy: "Restore on the very layers of the checkpoint (drums compares their digests first)",
    phases: ["restore"],
  },
  {
    id: "version-gap",
    pattern: /Can't read mapping page 0/,
    cause: "The images were written by a newer CRIU than the one that reads them",
    remedy: "Restore with the CRIU version of the checkpoint's manifest",
    phases: ["restore"],
  },
  {
    id: "kernel-vdso",
    pattern: /Unexpected rt vDSO area bounds|Could not initialize kernel features detection/,
    cause: "This CRIU is too old for this kernel",
    remedy: "Use CRIU 4.2.1 or newer: install the private bundle",
  },
  {
    id: "nested-mntns",
    pattern: /Can't setns \d+\/mnt: Invalid argument/,
    cause:
      "CRIU before 4.2.1 cannot restore a nested mount namespace, or what still refers to a process that has ended",
    remedy: "Use CRIU 4.2.1 or newer",
    phases: ["restore"],
  },
  {
    id: "root-missing",
    pattern: /BUG at criu\/mount\.c/,
    cause: "The restore was given no root",
    remedy: "Name the new root's mount point as root",
    phases: ["restore"],
  },
  {
    id: "locked-mount",
    pattern: /Unable to mount \/proc\/self\/fd\/\d+: Invalid argument/,
    cause: "A mount of the host lies under the merged root and became locked by the user namespace",
    remedy: "Keep the session's /dev beside the merged root and name it as an external",
    phases: ["restore"],
  },
  {
    id: "descriptor-limit",
    pattern: /Can't chose service_fd_base/,
    cause: "criu's own limit on open files is below what the session uses",
    remedy: "Start drums with a higher limit (ulimit -n), at least the session's own",
  },
  {
    id: "missing-program",
    pattern: /(?:exec|execvp|cr_system).*?\b(?<object>ip|tar|gzip)\b.*(?:No such file|failed)/,
    cause: "CRIU could not run a host program that it needs",
    remedy: "Install iproute2, tar and gzip, and see that PATH holds them",
  },
  {
    id: "pid-taken",
    pattern: /Can't fork for (?<object>\d+): File exists/,
    cause: "A pid of the dumped tree is in use by another process",
    remedy: "Dump trees that have a pid namespace of their own, as every session has",
    phases: ["restore"],
  },
  {
    id: "leader-outside",
    pattern: /A session leader of \d+\(\d+\) is outside of its pid namespace/,
    cause: "A process belongs to a terminal session whose leader is outside",
    remedy: "The session's init must call setsid before it starts anything",
  },
  {
    id: "pidfd-thread",
    pattern: /PIDFD_THREAD flag is currently not supported/,
    cause: "A process holds a pidfd of a thread, which CRIU cannot save",
    remedy: "Let the program close it before the checkpoint",
    phases: ["dump"],
  },
  {
    id: "tty-opened-twice",
    pattern: /ctty inheritance detected sid\/pgrp \d+ \(ctty pid_real (?<pid>\d+) pty pid_real \d+\)/,
    cause: "/dev/tty is open, and the terminal behind it is held by another process too",
    remedy: "End the program in the terminal, such as a pager, before the checkpoint",
    named: "pid",
    phases: ["dump"],
  },
  {
    id: "mqueue-content",
    pattern: /mqueue isn't empty/,
    cause: "A POSIX message queue exists",
    remedy: "Unlink the queue before the checkpoint",
    phases: ["dump"],
  },
  {
    id: "pipe-packets",
    pattern: /The packetized mode for pipes is not supported/,
    cause: "A process holds a pipe that keeps the borders of packets (O_DIRECT)",
    remedy: "End the program that made it, or let it use a socket pair",
    phases: ["dump"],
  },
  {
    id: "namespace-net",
    pattern: /Unable to dump more than one netns if the --emptyns is set/,
    cause: "A process made a net namespace of its own, and the dump leaves net namespaces out",
    remedy: "Dump with the flag emptyNet set to false, or let that program end",
    phases: ["dump"],
  },
  {
    id: "socket-protocol",
    pattern:
      /Unsupported proto (?<protocol>\d+) for socket (?<socketHex>[0-9a-f]+)|Unknown socket collected \(family (?<family>\d+)\)/,
    cause: "A process holds a socket of a kind that CRIU does not know (vsock, xdp, mptcp, ping)",
    remedy: "Refuse the family by seccomp (the hardened profile does), or let the program close it",
    named: "socket",
    phases: ["dump"],
  },
  {
    id: "socket-passcred",
    pattern: /Can't get 1:(?:16|34) opt/,
    cause:
      "This CRIU asks every socket for SO_PASSCRED and SO_PASSSEC, which this kernel knows of unix sockets alone",
    remedy: "Use CRIU 4.2.1 or newer",
    phases: ["dump"],
  },
  {
    id: "netlink-queued",
    pattern: /netlink: The socket has data to read/,
    cause: "An answer waits in a netlink socket",
    remedy: "Dump again: the moment passes when the program reads it",
    passes: true,
    phases: ["dump"],
  },
  {
    id: "tcp-established",
    pattern: /Connected TCP socket, consider using --tcp-established/,
    cause: "A TCP connection is open and the dump was not told what becomes of it",
    remedy: "Dump with tcpEstablished or tcpClose, or let it close",
    phases: ["dump"],
  },
  {
    id: "tcp-unaccepted",
    pattern: /inet: In-flight connection \(l\) for (?<socketHex>[0-9a-f]+)/,
    cause: "A TCP connection waits in a listening socket's backlog to be accepted",
    remedy: "Dump again: the moment passes as soon as the server accepts",
    named: "socket",
    passes: true,
    phases: ["dump"],
  },
  {
    id: "mount-overmounted",
    pattern:
      /Open files on overmounted mounts are not supported yet; mount=\d+ fd=(?<fd>-?\d+) path=(?<object>\S*)/,
    cause: "A process uses a file that lies on a mount which another one covers",
    remedy: "Pivot into the new root instead of mounting over /, or close the file",
    named: "path",
    phases: ["dump"],
  },
  {
    id: "memory-unread",
    pattern: /Can't dump page with parasite/,
    cause:
      "CRIU could not read a process's memory: versions before 4.2.1 fail at guard pages (MADV_GUARD_INSTALL)",
    remedy: "Use CRIU 4.2.1 or newer",
    phases: ["dump"],
  },
  {
    id: "tun-left-out",
    pattern: /No tun device for file (?<object>\S+)/,
    cause: "A process holds a tun interface, and the dump left its net namespace out",
    remedy: "Dump with the flag emptyNet set to false",
    phases: ["restore"],
  },
  {
    id: "ping-socket",
    pattern: /Can't create inet socket: Permission denied/,
    cause:
      "A process holds a ping socket, which net.ipv4.ping_group_range of the new net namespace forbids it",
    remedy: "Let the program close it before the checkpoint",
    phases: ["restore"],
  },
  {
    id: "mount-overlay",
    pattern: /Unable to mount overlay .*: No such file or directory/,
    cause:
      "An overlay was mounted in the session on folders of its own, which a restore looks for on the host",
    remedy: "Unmount it before the checkpoint",
    phases: ["restore"],
  },
];
