import { describe, expect, test } from "vitest";
import { errorLines, parseLog } from "../../src/explain/log.js";
import { explainFailure, FAILURES } from "../../src/index.js";

/** The exact texts as CRIU wrote them, and the rule that must explain each. */
const MET: readonly [rule: string, phase: "dump" | "restore", line: string][] = [
  [
    "rlimit-refused",
    "dump",
    "(00.041) Error (criu/cr-dump.c:391): Can't get rlimit 0: Operation not permitted",
  ],
  [
    "network-lock",
    "dump",
    "(00.041) Error (criu/net.c:3065): net: Locking network failed: iptables-restore returned -1",
  ],
  ["inotify-handle", "dump", "(00.041) Error (criu/fsnotify.c:284): fsnotify: \tCan't dump that handle"],
  [
    "stale-overlay",
    "restore",
    "(00.041)      1: Error (criu/mount.c:2): mount overlay on /x: Stale file handle",
  ],
  [
    "file-locks",
    "dump",
    "(00.041) Error (criu/file-lock.c:110): Some file locks are hold by dumping tasks! You can try --file-locks to dump them.",
  ],
  [
    "ghost-race",
    "restore",
    "(00.041)    121: Error (criu/files-reg.c:2258): Can't link run/user/1000/dconf/user.cr.3.ghost -> home/user/.config/dconf/user.cr_link: Invalid cross-device link",
  ],
  [
    "ghost-race",
    "restore",
    "(00.041)    120: Error (criu/files-reg.c:2258): Can't link home/user/.config/dconf/user.cr.2.ghost -> : No such file or directory",
  ],
  [
    "ghost-limit",
    "dump",
    "(00.041) Error (criu/files-reg.c:1135): Can't dump ghost file /tmp/big of 2097152 size, increase limit",
  ],
  [
    "link-remap",
    "dump",
    "(00.041) Error (criu/files-reg.c:1250): Can't create link remap for /home/user/x. Use link-remap option.",
  ],
  [
    "foreign-mount",
    "dump",
    "(00.041) Error (criu/files-reg.c:1820): Can't lookup mount=29 for fd=7 path=/srv/secret",
  ],
  ["unix-foreign", "dump", "(00.041) Error (criu/sk-unix.c:860): unix: Unix socket 43874 not found"],
  [
    "unix-external",
    "dump",
    "(00.041) Error (criu/sk-unix.c:900): unix: External socket is used. Consider using --ext-unix-sk option.",
  ],
  [
    "unix-external",
    "dump",
    "(00.041) Error (criu/sk-unix.c:910): unix: Can't dump half of stream unix connection.",
  ],
  [
    "unix-in-flight",
    "dump",
    "(00.041) Error (criu/sk-queue.c:1): unix: Non-empty write queue on an in-flight socket",
  ],
  [
    "nested-namespace",
    "dump",
    "(00.041) Error (criu/namespaces.c:800): Can't dump nested pid namespace for 77",
  ],
  [
    "traced",
    "dump",
    "(00.041) Error (compel/src/lib/infect.c:418): Unseizable non-zombie 4711 found, state S, err -1/1",
  ],
  ["cgroup-set", "dump", "(00.041) Error (criu/cgroup.c:1): cg: No set 1 found"],
  [
    "cgroup-set",
    "restore",
    "Error (criu/util.c:1152): Unable to mount tmpfs in .criu.cgyard.y4f5hB: Invalid argument",
  ],
  [
    "memfd-seal",
    "restore",
    "(00.041)     44: Error (criu/memfd.c:1): Cannot apply seals on memfd: Device or resource busy",
  ],
  ["io-uring", "dump", "(00.041) Error (compel/parasite.c:1): send_fds failed (-22)"],
  [
    "anon-object",
    "dump",
    "(00.041) Error (criu/files-ext.c:98): Can't dump file 5 of that type [600] (unknown anon_inode:[userfaultfd])",
  ],
  [
    "fuse-mount",
    "dump",
    "(00.041) Error (criu/filesystems.c:1): failed to dump fs /run/user/1000/gvfs (fuse): always fail",
  ],
  [
    "mount-unsupported",
    "dump",
    "(00.041) Error (criu/mount.c:724): mnt: FS mnt /mnt/x dev 0x7000001 root / unsupported id 0",
  ],
  [
    "mount-foreign-root",
    "dump",
    "(00.041) Error (criu/mount.c:753): mnt: 188:/mnt/y doesn't have a proper root mount",
  ],
  ["veth", "dump", "(00.041) Error (criu/net.c:1): net: Unknown peer net namespace"],
  ["veth", "restore", "(00.041) Error (criu/net.c:1): net: Can't restore link: -16"],
  [
    "layer-changed",
    "restore",
    "(00.041)     12: Error (criu/files-reg.c:2181): File usr/bin/xterm has bad size 12 (expect 34)",
  ],
  ["version-gap", "restore", "(00.041)     12: Error (criu/pagemap.c:256): Can't read mapping page 0"],
  [
    "kernel-vdso",
    "dump",
    "(00.041) Error (criu/kerndat.c:1): Could not initialize kernel features detection.",
  ],
  [
    "nested-mntns",
    "restore",
    "(00.041)     12: Error (criu/namespaces.c:1): Can't setns 7/mnt: Invalid argument",
  ],
  ["root-missing", "restore", "(00.041)      1: Error (criu/mount.c:48): mnt: BUG at criu/mount.c:48"],
  [
    "locked-mount",
    "restore",
    "(00.041)      1: Error (criu/mount.c:1): mnt: Unable to mount /proc/self/fd/11: Invalid argument",
  ],
  ["descriptor-limit", "restore", "(00.041) Error (criu/servicefd.c:1): sfd: Can't chose service_fd_base"],
  ["pid-taken", "restore", "Error (criu/cr-restore.c:1237): Can't fork for 15670: File exists"],
  [
    "not-dumpable",
    "dump",
    "Error (criu/namespaces.c:997): One or more namespaces doesn't belong to the target user namespace",
  ],
  [
    "missing-program",
    "dump",
    'Error (criu/util.c:642): execvp("tar", ...) failed: No such file or directory',
  ],
  [
    "leader-outside",
    "dump",
    "(00.041) Error (criu/pstree.c:300): A session leader of 77(3) is outside of its pid namespace",
  ],
  [
    "unix-in-flight",
    "dump",
    "(00.041) Error (criu/sk-unix.c:525): unix: Found a closed in-flight socket to 0x1a2b",
  ],
  [
    "fuse-mount",
    "dump",
    "(00.041) Error (criu/filesystems.c:663): mnt: failed to dump fs ./run/user/1000/gvfs (fuse): always fail",
  ],
  ["disk-full", "dump", "(00.041) Error (criu/bfd.c:1): Error flushing image: No space left on device"],
  [
    "uninterruptible",
    "dump",
    "Error (compel/src/lib/infect.c:418): Unseizable non-zombie 14241 found, state D, err -1/1",
  ],
  ["io-uring", "dump", "Error (criu/parasite-syscall.c:280): Can't retrieve FDs from socket"],
  ["pidfd-thread", "dump", "Error (criu/pidfd.c:88): pidfd: PIDFD_THREAD flag is currently not supported"],
  [
    "tty-opened-twice",
    "dump",
    "Error (criu/tty.c:2286): tty: ctty inheritance detected sid/pgrp 3 (ctty pid_real 14297 pty pid_real 14291)",
  ],
  ["mqueue-content", "dump", "Error (criu/filesystems.c:650): mqueue isn't empty"],
  ["pipe-packets", "dump", "Error (criu/pipes.c:490): The packetized mode for pipes is not supported yet"],
  [
    "namespace-net",
    "dump",
    "Error (criu/net.c:2859): net: Unable to dump more than one netns if the --emptyns is set",
  ],
  ["socket-protocol", "dump", "Error (criu/sk-inet.c:130): inet: Unsupported proto 262 for socket 8ab04a"],
  [
    "socket-protocol",
    "dump",
    "Error (criu/sockets.c:753): sockets: BUG! Unknown socket collected (family 40)",
  ],
  [
    "socket-passcred",
    "dump",
    "Error (criu/sockets.c:628): sockets: Can't get 1:16 opt: Operation not supported",
  ],
  ["netlink-queued", "dump", "Error (criu/sk-netlink.c:77): netlink: The socket has data to read"],
  [
    "tcp-established",
    "dump",
    "Error (criu/sk-inet.c:188): inet: Connected TCP socket, consider using --tcp-established option.",
  ],
  ["tcp-unaccepted", "dump", "Error (criu/sk-inet.c:176): inet: In-flight connection (l) for 8ab591"],
  [
    "mount-overmounted",
    "dump",
    "Error (criu/files-reg.c:1796): Open files on overmounted mounts are not supported yet; mount=288 fd=-3 path=/usr/lib/drums/drums-init",
  ],
  ["memory-unread", "dump", "Error (criu/mem.c:672): Can't dump page with parasite"],
  ["tun-left-out", "restore", "     2: Error (criu/tun.c:391): tun: No tun device for file tun0"],
  [
    "ping-socket",
    "restore",
    "     2: Error (criu/sk-inet.c:900): inet: Can't create inet socket: Permission denied",
  ],
  [
    "mount-overlay",
    "restore",
    "     1: Error (criu/mount.c:2232): mnt: Unable to mount overlay /tmp/.criu.mntns.A1EpPK/mnt-0000000047 (id=47): No such file or directory",
  ],
];

describe("every failure met is explained from its own text", () => {
  test.each(MET)("%s at %s: %s", (rule, phase, line) => {
    const explanation = explainFailure(`(00.001) Info line\n${line}\n`, { phase });
    expect(explanation).toMatchObject({ known: true, rule, lines: [line] });
    expect(explanation.cause.length).toBeGreaterThan(20);
    expect(explanation.remedy.length).toBeGreaterThan(10);
  });

  test("every rule has an exact text here", () => {
    const tested = new Set(MET.map(([rule]) => rule));
    expect(FAILURES.map(({ id }) => id).filter((id) => !tested.has(id))).toEqual([]);
  });
});

test("a failure is explained by the first line that tells it, not by what came of it", () => {
  const log = [
    "Error (criu/memfd.c:486): Cannot apply seals on memfd: Device or resource busy",
    "Error (criu/cr-restore.c:2320): Restoring FAILED.",
    "Error (criu/cgroup.c:1998): cg: cgroupd: recv req error: No such file or directory",
  ];
  expect(explainFailure(log.join("\n"), { phase: "restore" }).rule).toBe("memfd-seal");
  const opened = [
    "Error (criu/files-ext.c:94): Can't dump file 4 of that type [20600] (chr 10:229)",
    "Error (criu/filesystems.c:663): failed to dump fs ./mnt (fuse): always fail",
  ];
  expect(explainFailure(opened.join("\n"), { phase: "dump" }).rule).toBe("anon-object");
  expect(explainFailure(opened.reverse().join("\n"), { phase: "dump" }).rule).toBe("fuse-mount");
});

test("that cgroupd lost its peer comes with every failed restore and explains none", () => {
  const line = "Error (criu/cgroup.c:1998): cg: cgroupd: recv req error: No such file or directory";
  expect(explainFailure(line, { phase: "restore" })).toMatchObject({ known: false, lines: [line] });
});

test("a dump's failure tells the host pid of the task at which it ended, known or not", () => {
  const log = (line: string) =>
    [line, "Error (criu/cr-dump.c:1681): Dump files (pid: 13326) failed with -1"].join("\n");
  const known = "Error (criu/pidfd.c:88): pidfd: PIDFD_THREAD flag is currently not supported";
  for (const line of [known, "Error (criu/x.c:1): never seen"])
    expect(explainFailure(log(line), { phase: "dump" }).facts).toEqual({ pid: "13326" });
});

test("the log's own numbers and paths are given as facts", () => {
  const line =
    "(00.041) Error (criu/files-reg.c:1135): Can't dump ghost file /tmp/big of 2097152 size, increase limit";
  expect(explainFailure(line, { phase: "dump" }).facts).toEqual({ object: "/tmp/big", size: "2097152" });
});

test("a restore's failure tells the inner pid of its line", () => {
  const known = "(00.1)     44: Error (criu/memfd.c:1): Cannot apply seals on memfd: Device or resource busy";
  expect(explainFailure(known, { phase: "restore" }).pid).toBe(44);
  const never = "(00.1)     45: Error (criu/x.c:1): never seen";
  expect(explainFailure(never, { phase: "restore" })).toMatchObject({ known: false, pid: 45 });
});

test("an unknown failure says so and carries its error lines", () => {
  const explanation = explainFailure("(00.1) Error (criu/x.c:1): never seen\n", { phase: "dump" });
  expect(explanation).toMatchObject({ known: false, cause: expect.stringContaining("unknown") });
  expect(explanation.lines).toEqual(["(00.1) Error (criu/x.c:1): never seen"]);
});

test("an unknown failure without error lines carries the log's tail", () => {
  const text = Array.from({ length: 40 }, (_, index) => `(00.1) line ${index}`).join("\n");
  const { lines } = explainFailure(text, { phase: "restore" });
  expect(lines.at(-1)).toBe("(00.1) line 39");
  expect(lines).toHaveLength(15);
});

test("an empty log still gives a cause", () => {
  expect(explainFailure("", { phase: "dump" }).cause).toContain("left no log");
});

test("lines that a good dump writes too explain nothing", () => {
  const text = [
    "(00.035168) Error (criu/util.c:1534): rlimit: Can't setup RLIMIT_NOFILE for self: Operation not permitted",
    "(00.094654) Error (criu/util.c:1723): iptables-save -V failed",
    "(00.2) Error (criu/files-ext.c:98): Can't dump file 5 of that type [600]",
  ].join("\n");
  expect(errorLines(text).map(({ source }) => source)).toEqual(["criu/files-ext.c:98"]);
});

test("a restore's line gives its time, inner pid, level and source", () => {
  expect(parseLog("(00.107011)     19: Error (criu/mount.c:12): mnt: what")[0]).toEqual({
    seconds: 0.107011,
    pid: 19,
    level: "error",
    source: "criu/mount.c:12",
    message: "mnt: what",
    raw: "(00.107011)     19: Error (criu/mount.c:12): mnt: what",
  });
});

test("a line of a quiet log, which has no time, keeps its pid and level", () => {
  expect(
    parseLog("     1: Error (criu/files-reg.c:2175): File bin/sh has bad size 2 (expect 1)")[0],
  ).toMatchObject({
    pid: 1,
    level: "error",
    source: "criu/files-reg.c:2175",
    message: "File bin/sh has bad size 2 (expect 1)",
  });
});
