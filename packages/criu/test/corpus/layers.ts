import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { MountStep } from "@drums/nsexec";
import { overlayData } from "../helpers/session.js";
import type { CorpusCase } from "./cases.js";

/** What all cases share. */
export interface Ground {
  /** Holds a folder for each case. */
  readonly folder: string;
  readonly lower: string;
  /** The corpus program, for the host's own hands. */
  readonly program: string;
}

/** The writable folders of a session or sibling. */
export interface CaseFolders {
  readonly upper: string;
  readonly work: string;
  readonly scratch: string;
}

/** Makes the folders of a case's session or sibling. */
export async function foldersOf(folder: string, name: string): Promise<CaseFolders> {
  const at = (part: string) => join(folder, name, part);
  const folders = { upper: at("upper"), work: at("work"), scratch: at("scratch") };
  for (const path of Object.values(folders)) await mkdir(path, { recursive: true });
  return folders;
}

/** The root's mounts as nsexec builds them, or without the options that make file handles. */
export function rootMounts(
  { plainOverlay = false }: CorpusCase,
  { lowers, folders }: { readonly lowers: readonly string[]; readonly folders: CaseFolders },
): { hostMounts: MountStep[]; root: string } {
  const { upper, work, scratch } = folders;
  const root = join(scratch, "root");
  const data = overlayData({ lowers, upper, work });
  const hostMounts: MountStep[] = [
    { kind: "mount", fsType: "tmpfs", source: "drums", target: scratch, data: "mode=755,size=1m" },
    { kind: "folder", path: root },
    {
      kind: "mount",
      fsType: "overlay",
      source: "overlay",
      target: root,
      data: plainOverlay ? data.replace(",index=on,nfs_export=on", "") : data,
    },
  ];
  return { hostMounts, root };
}
