import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import {
  buildSessionPlan,
  connectInit,
  type External,
  type LaunchPlan,
  launchSession,
  openSessionRoot,
  sys,
} from "@drums/nsexec";
import { execa } from "execa";
import { overlayData } from "../helpers/session.js";
import type { CorpusCase } from "./cases.js";
import { type CaseFolders, type Ground, rootMounts } from "./layers.js";

/** A launched case: its PID 1 on the host, and what is let go of after its end. */
export interface Launched {
  readonly initPid: number;
  release(): void;
}

/**
 * Launches a session of nsexec's compat profile with what the profile takes away given back, so that a case can make
 * any object: no seccomp filter, every capability.
 */
export async function launchWithInit(
  ground: Ground,
  one: CorpusCase,
  { folders, binds }: { readonly folders: CaseFolders; readonly binds: readonly External[] },
): Promise<Launched> {
  const lowers = [{ path: ground.lower, idmap: false }];
  const { plan } = buildSessionPlan({ profile: "compat", hostname: "corpus", lowers, ...folders });
  const { capabilities: _kept, seccomp: _filter, noNewPrivs: _privileges, ...open } = plan;
  const loop = one.loop ? await attachExt4(join(folders.scratch, "..", "image")) : undefined;
  const session = await launchSession({
    ...open,
    ...rootMounts(one, { lowers: [ground.lower], folders }),
    insideMounts: [...open.insideMounts, ...extraMounts(binds, loop?.path)],
  });
  await session.go();
  await startProgram(session.initPid, one);
  return { initPid: session.initPid, release: () => loop?.detach() };
}

function extraMounts(binds: readonly External[], device: string | undefined): LaunchPlan["insideMounts"] {
  return [
    ...binds.map(
      ({ hostPath, mountPoint }) => ({ kind: "bind", source: hostPath, target: mountPoint }) as const,
    ),
    ...(device ? [{ kind: "mount", fsType: "ext4", source: device, target: "/mnt" } as const] : []),
  ];
}

async function startProgram(pid: number, one: CorpusCase): Promise<void> {
  const root = await openSessionRoot({ pid });
  const init = await connectInit(root);
  await init.spawn({ argv: ["/usr/bin/corpus", one.run ?? one.id] });
  await init.close();
  root.close();
}

async function attachExt4(image: string): Promise<{ path: string; detach: () => void }> {
  await execa("truncate", ["-s", "4M", image]);
  await execa("mke2fs", ["-q", "-t", "ext4", image]);
  const backing = openSync(image, "r+");
  const { path, fd } = sys.loopAttach(backing, { readOnly: false });
  closeSync(backing);
  closeSync(fd);
  return { path, detach: () => sys.loopDetach(path) };
}

/** Launches a tree whose PID 1 is the case's process, with a stdin of the host's. */
export async function launchBare(ground: Ground, one: CorpusCase, folders: CaseFolders): Promise<Launched> {
  const { upper, work, scratch: root } = folders;
  const setUp = `set -e
mount --make-rprivate /
mount -t overlay overlay -o ${overlayData({ lowers: [ground.lower], upper, work })} ${root}
mount -t proc proc ${root}/proc
mount -t tmpfs tmpfs ${root}/tmp
exec ${ground.program} pivot ${root} ${one.run ?? one.id}`;
  const stdin = stdinOf(one, ground);
  const { pid, pidfd } = sys.clone3Exec({
    file: "/bin/sh",
    argv: ["sh", "-c", setUp],
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    namespaces: ["mnt", "pid", "uts", "ipc", "net"],
    fds: stdin.slice(0, 1).map((source) => ({ source, target: 0 })),
    newSession: one.bare !== "no-setsid",
  });
  const ended = sys.pidfdWait(pidfd);
  const release = () => {
    for (const fd of stdin) closeSync(fd);
    void ended.then(() => closeSync(pidfd));
  };
  return { initPid: pid, release };
}

/** The descriptors to hold for a case, the one that becomes its stdin first. */
function stdinOf({ bare }: CorpusCase, { program }: Ground): number[] {
  if (bare === "file") return [openSync(program, "r")];
  return bare === "socket" ? sys.socketpairSeqpacket() : [];
}
