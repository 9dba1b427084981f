import { chmod, chown, copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildRootMounts,
  buildSessionPlan,
  connectInit,
  type External,
  type InitClient,
  initBinaryPath,
  launchSession,
  openSessionRoot,
  type ProfileName,
  type RootMounts,
  type SessionRoot,
} from "@drums/nsexec";
import { endProcess, tinyRoot } from "./session.js";

const ID_BASE = 0x4000_0000;

/** A folder with a tiny root and the session and siblings made from it; everything goes with `end`. */
export interface Desk {
  readonly folder: string;
  readonly initPid: number;
  readonly upper: string;
  readonly externals: readonly External[];
  /** The mounts of a sibling of its own upper on a dumped upper. */
  groundFor(name: string, layer: string): Promise<RootMounts>;
  /** Is ended together with the session. */
  adopt(pid: number): void;
  end(): Promise<void>;
}

/** Launches a session of a profile through nsexec, with drums-init as its PID 1. `fill` adds to its tiny root. */
export async function launchDesk(
  profile: ProfileName,
  { fill = () => {} }: { readonly fill?: (root: string) => void } = {},
): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), "drums-criu-desk-"));
  await chmod(folder, 0o755);
  const lower = join(folder, "lower");
  await tinyRoot(lower);
  await mkdir(join(lower, "usr/lib/drums"), { recursive: true });
  await copyFile(initBinaryPath(), join(lower, "usr/lib/drums/drums-init"));
  fill(lower);
  const shifted = profile === "hardened";
  const main = await foldersOf(folder, "main", shifted);
  const lowers = [{ path: lower, idmap: shifted }];
  const { plan, externals } = buildSessionPlan({ profile, hostname: "desk", lowers, ...main });
  const pids: number[] = [];
  const end = async () => {
    for (const pid of pids) await endProcess(pid);
    await rm(folder, { recursive: true, force: true });
  };
  const session = await launchSession(plan);
  pids.push(session.initPid);
  await session.go();
  return {
    folder,
    initPid: session.initPid,
    upper: main.upper,
    externals,
    groundFor: async (name, layer) =>
      buildRootMounts({
        profile,
        lowers: [{ path: layer, idmap: false }, ...lowers],
        ...(await foldersOf(folder, name, shifted)),
      }),
    adopt: (pid) => pids.push(pid),
    end,
  };
}

async function foldersOf(folder: string, name: string, shifted: boolean) {
  const folders = {
    upper: join(folder, name, "upper"),
    work: join(folder, name, "work"),
    scratch: join(folder, name, "scratch"),
  };
  for (const path of Object.values(folders)) await mkdir(path, { recursive: true });
  if (shifted) for (const path of [folders.upper, folders.work]) await chown(path, ID_BASE, ID_BASE);
  return folders;
}

/** Talks to the init of a session, and lets go of it again: no connection may be open at a dump. */
export async function withInit<T>(
  pid: number,
  use: (init: InitClient, root: SessionRoot) => Promise<T>,
): Promise<T> {
  const root = await openSessionRoot({ pid });
  const init = await connectInit(root);
  try {
    return await use(init, root);
  } finally {
    await init.close();
    root.close();
  }
}
