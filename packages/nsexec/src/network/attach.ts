import { closeSync, openSync, readFileSync, rmSync } from "node:fs";
import { type NativeChild, spawnNative } from "../child.js";
import { NsexecError } from "../errors.js";
import { readNamespaces, sameNamespace } from "../proc/namespaces.js";
import { processGone } from "../proc/processes.js";
import { isGone } from "../proc/read.js";
import { readStartTime } from "../proc/stat.js";
import { SeqpacketChannel } from "../seqpacket.js";
import { O } from "../syscalls/constants.js";
import { pidfdOpen } from "../syscalls/pidfd.js";
import { socketpairSeqpacket } from "../syscalls/socket.js";
import type { FdMapping } from "../syscalls/spawn.js";
import { publishPort } from "./api.js";
import { NAT, natFiles } from "./constants.js";
import { findOnPath } from "./find.js";
import type { PortRequest, PublishedPort } from "./ports.js";

/** The process whose net namespace is to be connected, commonly a session's init. */
export interface NatTarget {
  /** As the host sees it. */
  readonly pid: number;
  /** Clock ticks; refuses a process that merely has the same pid. Default: not asked. */
  readonly startTime?: bigint;
}

/** Options of {@link attachNat}. */
export interface NatOptions {
  /** A folder of the caller's own, closed to others: takes `nat.sock`, the API socket, and `nat.log`. */
  readonly folder: string;
  /** Ports to publish on the host's 127.0.0.1. Default: none. */
  readonly publish?: readonly PortRequest[];
  /**
   * How slirp4netns is started, such as through `nsenter --net=…` for traffic that is to leave by another
   * net namespace than ours. It must end in an exec. Default: `slirp4netns` of PATH.
   */
  readonly command?: readonly [string, ...string[]];
  /** For slirp4netns to be ready. Default 10 000. */
  readonly timeoutMs?: number;
}

/** How slirp4netns confines itself, by the names of its options. */
export type NatConfinement = "sandbox" | "seccomp";

/** A running attachment. It outlives this process and ends with the target, or by {@link endNat}. */
export interface Nat {
  /** Of slirp4netns; with its start time its identity. */
  readonly pid: number;
  readonly startTime: bigint;
  readonly ports: readonly PublishedPort[];
  /** What is in force: `sandbox` (a mount namespace with /etc and /run alone, no capabilities but one) and `seccomp`. */
  readonly confinement: readonly NatConfinement[];
}

/** Numbers of descriptors in the child. */
const FD = { net: 3, user: 4, ready: 5, exit: 6 } as const;

/**
 * Bounds what a session can make its slirp4netns take of the host: 1024 sockets, and a log of 1 MiB, in blocks of 512
 * bytes (POSIX, ulimit). With SIGXFSZ ignored, which an exec keeps, what is said beyond that is lost and nothing else.
 */
const BOUNDED = 'trap "" XFSZ; ulimit -f 2048; ulimit -Sn 1024; exec "$@"';

/** The tightest first; what slirp4netns cannot do here (no libseccomp, no mount namespaces) is gone without. */
const CONFINEMENTS: readonly (readonly NatConfinement[])[] = [["sandbox", "seccomp"], ["sandbox"], []];

/**
 * Connects a net namespace to the host's network by slirp4netns, in user space: a tap device with {@link NAT}'s
 * addresses, no address of the host's loopback reachable. Call it before programs there look for a network.
 * slirp4netns gets the target's pidfd as its exit descriptor, so it ends by itself once the target has been reaped;
 * where the kernel is too old ({@link natEndsByItself}) only {@link endNat} ends it.
 * @throws NsexecError code NAT_UNAVAILABLE (no program), NAT_FAILED with its log's last lines, PROCESS_GONE,
 *   PORT_TAKEN, PORT_INVALID, NAT_API; nothing runs then
 */
export async function attachNat(target: NatTarget, options: NatOptions): Promise<Nat> {
  const { socket } = natFiles(options.folder);
  const [program, ...before] = options.command ?? ["slirp4netns"];
  const file = findOnPath(program);
  if (file === undefined) throw unavailable(program);
  const held = await holdTarget(target);
  try {
    const { child, confinement } = await startTightest({ argv: [file, ...before], held, options });
    try {
      const ports: PublishedPort[] = [];
      for (const request of options.publish ?? []) ports.push(await publishPort(socket, request));
      return { pid: child.pid, startTime: await readStartTime(child.pid), ports, confinement };
    } catch (error) {
      await stop(child);
      throw error;
    } finally {
      // Whoever ends it may reap it before we do.
      child.exited.catch(() => undefined);
      child.unref();
    }
  } finally {
    for (const fd of Object.values(held)) closeSync(fd);
  }
}

/** Descriptors of the target: whatever its pid comes to mean, they stay its own. */
interface Held {
  readonly pidfd: number;
  readonly net: number;
  /** Where the target's user namespace is not ours. */
  readonly user?: number;
}

async function holdTarget({ pid, startTime }: NatTarget): Promise<Held> {
  const opened: number[] = [];
  const keep = (fd: number) => {
    opened.push(fd);
    return fd;
  };
  try {
    const pidfd = keep(pidfdOpen(pid));
    const net = keep(openSync(`/proc/${pid}/ns/net`, O.O_RDONLY | O.O_CLOEXEC));
    const user = keep(openSync(`/proc/${pid}/ns/user`, O.O_RDONLY | O.O_CLOEXEC));
    const [theirs, ours] = await Promise.all([readNamespaces(pid), readNamespaces("self")]);
    // Asked after the opens: if the pid is still that process's now, what was opened is its.
    if (startTime !== undefined && (await readStartTime(pid)) !== startTime) throw processGone(pid);
    if (!sameNamespace(theirs.user, ours.user)) return { pidfd, net, user };
    closeSync(user);
    return { pidfd, net };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw isGone(error) ? processGone(pid) : error;
  }
}

interface Start {
  readonly argv: readonly [string, ...string[]];
  readonly held: Held;
  readonly options: NatOptions;
}

async function startTightest(
  start: Start,
): Promise<{ child: NativeChild; confinement: readonly NatConfinement[] }> {
  let failure: unknown;
  for (const confinement of CONFINEMENTS) {
    try {
      return { child: await startOne(start, confinement), confinement };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Starts slirp4netns and waits until the namespace is configured. */
async function startOne(
  { argv, held, options }: Start,
  confinement: readonly NatConfinement[],
): Promise<NativeChild> {
  const { socket, log } = natFiles(options.folder);
  const [near, far] = socketpairSeqpacket();
  const ready = new SeqpacketChannel(near);
  const output = openSync(log, O.O_WRONLY | O.O_CREAT | O.O_TRUNC | O.O_NOFOLLOW | O.O_CLOEXEC, 0o600);
  const quiet = openSync("/dev/null", O.O_RDONLY | O.O_CLOEXEC);
  let child: NativeChild | undefined;
  try {
    child = spawnNative({
      file: "/bin/sh",
      argv: ["sh", "-c", BOUNDED, "sh", ...argv, ...slirpArguments(socket, held, confinement)],
      env: { PATH: process.env.PATH ?? "/usr/sbin:/usr/bin:/sbin:/bin" },
      fds: [
        { source: quiet, target: 0 },
        { source: output, target: 1 },
        { source: output, target: 2 },
        ...descriptors(held, far),
      ],
      newSession: true,
    });
    closeSync(far);
    const packet = await ready.receive({ timeoutMs: options.timeoutMs ?? 10_000 });
    if (packet === undefined) throw failed(log);
    return child;
  } catch (error) {
    if (child === undefined) closeSync(far);
    else await stop(child);
    rmSync(socket, { force: true });
    throw error;
  } finally {
    ready.close();
    closeSync(output);
    closeSync(quiet);
  }
}

function descriptors({ net, user, pidfd }: Held, ready: number): FdMapping[] {
  return [
    { source: net, target: FD.net },
    ...(user === undefined ? [] : [{ source: user, target: FD.user }]),
    { source: ready, target: FD.ready },
    { source: pidfd, target: FD.exit },
  ];
}

function slirpArguments(socket: string, { user }: Held, confinement: readonly NatConfinement[]): string[] {
  return [
    "--configure",
    "--mtu=65520",
    "--disable-host-loopback",
    ...confinement.map((name) => `--enable-${name}`),
    `--api-socket=${socket}`,
    `--ready-fd=${FD.ready}`,
    `--exit-fd=${FD.exit}`,
    ...(user === undefined ? [] : [`--userns-path=/proc/self/fd/${FD.user}`]),
    "--netns-type=path",
    `/proc/self/fd/${FD.net}`,
    NAT.device,
  ];
}

async function stop(child: NativeChild): Promise<void> {
  child.kill("SIGKILL");
  await child.exited;
}

function unavailable(program: string): NsexecError {
  return new NsexecError("NAT_UNAVAILABLE", `${program} is not on PATH`, {
    path: program,
    hint: "Install slirp4netns (Debian: apt-get install slirp4netns), or go without a network.",
  });
}

function failed(log: string): NsexecError {
  const lines = readFileSync(log, "utf8").trimEnd().split("\n").slice(-5).join(" | ");
  return new NsexecError("NAT_FAILED", `slirp4netns did not come up: ${lines || "it said nothing"}`, {
    path: log,
    hint: /tun/.test(lines)
      ? "Load the tun module (modprobe tun), or give the container /dev/net/tun."
      : "Run as root; the log has all that slirp4netns said.",
  });
}
