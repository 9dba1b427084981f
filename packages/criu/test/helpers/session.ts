import { closeSync, openSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";

/** A tree in namespaces of its own on a tiny overlay, made by a shell script: the least that CRIU dumps as a session. */
export interface TinySession {
  readonly pid: number;
  readonly folder: string;
  readonly lower: string;
  readonly upper: string;
  /** A file of the session's upper. */
  read(name: string): Promise<string>;
  /** Kills PID 1 and waits for its end. */
  end(): Promise<void>;
}

const PROGRAMS = [
  "/bin/sh",
  "/bin/sleep",
  "/bin/umount",
  "/bin/cat",
  "/bin/rm",
  "/bin/ln",
  "/usr/bin/cmp",
  "/usr/bin/flock",
  "/usr/bin/unshare",
];

/** A root with a shell and the libraries it needs, and the folders that are mounted over. */
export async function tinyRoot(root: string): Promise<void> {
  for (const folder of ["proc", "tmp", "dev", "old", "bin", "usr/bin"])
    await mkdir(join(root, folder), { recursive: true });
  const { stdout } = await execa("ldd", PROGRAMS);
  const libraries = [...stdout.matchAll(/^\s.*?(\/\S+) \(0x/gm)].map(([, library = ""]) => library);
  for (const file of new Set([...PROGRAMS, ...libraries])) {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await copyFile(await realpath(file), join(root, file));
  }
}

/** Counts up in /count, twenty times a second; the process beneath it only sleeps. */
export const COUNT = "n=0; sleep 100000 & while :; do n=$((n+1)); echo $n > /count; sleep 0.05; done";

/** The overlay of a session or sibling. */
export function overlayData(layers: { lowers: readonly string[]; upper: string; work: string }): string {
  return `lowerdir=${layers.lowers.join(":")},upperdir=${layers.upper},workdir=${layers.work},index=on,nfs_export=on`;
}

/** Compiles a program that runs in any root. */
export async function compileStatic(source: string, target: string): Promise<void> {
  await execa("cc", ["-O1", "-w", "-static", "-x", "c", "-o", target, "-"], { input: source });
}

/**
 * Launches a session whose PID 1 runs `script` in a shell. `more` are shell commands before the pivot, in which ROOT is
 * the new root and each name of `programs` the path of that C source, compiled.
 */
export async function launchTiny(
  script = COUNT,
  more = "",
  {
    programs = {},
    namespaces = ["mnt", "pid", "uts", "ipc", "net"],
  }: {
    readonly programs?: Readonly<Record<string, string>>;
    readonly namespaces?: Parameters<typeof sys.clone3Exec>[0]["namespaces"];
  } = {},
): Promise<TinySession> {
  const folder = await mkdtemp(join(tmpdir(), "drums-criu-session-"));
  const [lower, upper, work, root] = ["lower", "upper", "work", "root"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  await tinyRoot(lower);
  for (const path of [upper, work, root]) await mkdir(path);
  await writeFile(join(folder, "script"), script);
  let commands = more.replaceAll("ROOT", root);
  for (const [name, source] of Object.entries(programs)) {
    await compileStatic(source, join(folder, name));
    commands = commands.replaceAll(name, join(folder, name));
  }
  const setUp = `set -e
mount --make-rprivate /
mount -t overlay overlay -o ${overlayData({ lowers: [lower], upper, work })} ${root}
mount -t proc proc ${root}/proc
mount -t tmpfs tmpfs ${root}/tmp
mount -t tmpfs tmpfs ${root}/dev
mknod ${root}/dev/null c 1 3
${commands}
cp ${folder}/script ${root}/script
ip link set lo up
cd ${root}
pivot_root . old
exec /bin/sh -c 'exec </dev/null >/log 2>&1; umount -l /old; exec /bin/sh /script'`;
  const error = openSync(join(folder, "launch.log"), "a");
  const { pid, pidfd } = sys.clone3Exec({
    file: "/bin/sh",
    argv: ["sh", "-c", setUp],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    namespaces,
    fds: [{ source: error, target: 2 }],
    newSession: true,
  });
  closeSync(error);
  const ended = sys.pidfdWait(pidfd);
  const session = {
    pid,
    folder,
    lower,
    upper,
    read: (name: string) => readFile(join(upper, name), "utf8"),
    end: async () => {
      try {
        sys.pidfdSendSignal(pidfd, "SIGKILL");
      } catch {
        // It has ended already.
      }
      await ended;
      closeSync(pidfd);
      await rm(folder, { recursive: true, force: true });
    },
  };
  return session;
}

/** Copies an upper as the moment after a dump requires: hard links, modes and xattrs kept. */
export async function copyUpper(from: string, to: string): Promise<void> {
  await execa("cp", ["-a", from, to]);
}

/** Waits until `probe` gives a value. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 10_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const value = await Promise.resolve(probe()).catch(() => undefined);
    if (value !== undefined && value !== false) return value as T;
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Kills a process that need not be a child of ours, and waits until it is gone. */
export async function endProcess(pid: number): Promise<void> {
  let pidfd: number;
  try {
    pidfd = sys.pidfdOpen(pid);
  } catch {
    return;
  }
  try {
    sys.pidfdSendSignal(pidfd, "SIGKILL");
    await sys.pidfdWait(pidfd);
  } catch {
    // It has ended meanwhile.
  } finally {
    closeSync(pidfd);
  }
}
