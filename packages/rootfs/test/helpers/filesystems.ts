import { mkdir, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sys } from "@drums/nsexec";
import { execa } from "execa";
import { onTestFinished } from "vitest";
import type { Need } from "../../../../tools/testing/needs.js";
import { realSystem } from "../../src/index.js";
import { MIB } from "./disk.js";

/** File systems beside ext4 that a root may be, with the program that makes one. */
export const MAKERS = {
  xfs: "program:mkfs.xfs",
  btrfs: "program:mkfs.btrfs",
  squashfs: "program:mksquashfs",
} as const satisfies Record<string, Need>;

export type MadeKind = keyof typeof MAKERS;

/** No smaller xfs is made. */
const BYTES = 320 * MIB;

/** What a test needs that mounts one. */
export function needsOf(kind: MadeKind): Need[] {
  return ["root", "loop", `filesystem:${kind}`, MAKERS[kind]];
}

/** An image of one file system without a partition table, labelled "system", filled from a folder. */
export async function makeFilesystem(kind: MadeKind, file: string, from: string): Promise<void> {
  if (kind === "squashfs") {
    await execa("mksquashfs", [from, file, "-quiet", "-no-progress"]);
    return;
  }
  await writeFile(file, "");
  await truncate(file, BYTES);
  if (kind === "btrfs") await execa("mkfs.btrfs", ["-q", "-L", "system", "--rootdir", from, file]);
  else {
    await execa("mkfs.xfs", ["-q", "-L", "system", file]);
    await withMounted(kind, file, async (folder) => {
      await execa("cp", ["-a", `${from}/.`, folder]);
    });
  }
}

/** Runs the body with a file system mounted writable, beside its file. */
export async function withMounted<T>(
  kind: string,
  file: string,
  body: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = `${file}.mounted`;
  await mkdir(folder, { recursive: true });
  const loop = await realSystem.attachLoop({ file, offset: 0, bytes: BYTES, readOnly: false });
  sys.mount(folder, { source: loop.device, fsType: kind, flags: sys.MS.NODEV });
  loop.close();
  try {
    return await body(folder);
  } finally {
    sys.umount2(folder, sys.MNT.DETACH);
  }
}

/** A writable file system of its own for a test, gone with it. */
export async function mountedFilesystem(kind: "xfs" | "btrfs" | "tmpfs", folder: string): Promise<string> {
  const target = join(folder, kind);
  await mkdir(target);
  if (kind === "tmpfs") sys.mount(target, { source: "tmpfs", fsType: "tmpfs", data: "size=64m" });
  else {
    const file = `${target}.img`;
    await writeFile(file, "");
    await truncate(file, BYTES);
    await execa(`mkfs.${kind}`, ["-q", file]);
    const loop = await realSystem.attachLoop({ file, offset: 0, bytes: BYTES, readOnly: false });
    sys.mount(target, { source: loop.device, fsType: kind });
    loop.close();
  }
  onTestFinished(() => sys.umount2(target, sys.MNT.DETACH));
  return target;
}
