import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { External, MountStep } from "@drums/nsexec";
import { endProcess } from "../helpers/session.js";
import type { CorpusCase } from "./cases.js";
import { launchBare, launchWithInit } from "./launch.js";
import { foldersOf, type Ground, rootMounts } from "./layers.js";

/** A session in which a case's process runs. */
export interface CaseSession {
  readonly initPid: number;
  readonly folder: string;
  readonly upper: string;
  readonly externals: readonly External[];
  /** The mounts of a sibling on a dumped upper, its root, and its own upper. */
  sibling(layer: string): Promise<{ hostMounts: MountStep[]; root: string; upper: string }>;
  /** Kills the session, and lets go of what it held; the folder stays. */
  end(): Promise<void>;
  /** Removes the folder. */
  remove(): Promise<void>;
}

/** Launches a case's session. Its process has been started, and may not be ready yet. */
export async function launchCase(ground: Ground, one: CorpusCase): Promise<CaseSession> {
  const folder = join(ground.folder, one.id);
  const folders = await foldersOf(folder, "session");
  const binds = one.bind === undefined ? [] : [await hostFolder(folder)];
  const { initPid, release } = one.bare
    ? await launchBare(ground, one, folders)
    : await launchWithInit(ground, one, { folders, binds });
  return {
    initPid,
    folder,
    upper: folders.upper,
    externals: one.bind === "named" ? binds : [],
    sibling: async (layer) => {
      const own = await foldersOf(folder, "sibling");
      return { ...rootMounts(one, { lowers: [layer, ground.lower], folders: own }), upper: own.upper };
    },
    end: async () => {
      await endProcess(initPid);
      release();
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function hostFolder(folder: string): Promise<External> {
  const hostPath = join(folder, "host");
  await mkdir(hostPath);
  await writeFile(join(hostPath, "host"), "of the host\n");
  return { mountPoint: "/mnt", key: "host", hostPath };
}
