import { randomUUID } from "node:crypto";
import { open } from "node:fs/promises";
import type { ImageRecipe } from "../recipes/types.js";
import { makeGpt, PARTITION_TYPES, SECTOR } from "./gpt.js";
import { runHostProgram } from "./host-program.js";

const MIB = 1024 * 1024;

/**
 * Writes a root folder as a raw disk: GPT, an ESP without a filesystem (nothing boots from it, readers meet it),
 * an ext4 root. Partitions lie on whole MiB.
 * @throws DrumsError PROGRAM_FAILED (mke2fs: the root does not fit), PROGRAM_MISSING, INTERRUPTED
 */
export async function writeRawDisk(
  recipe: ImageRecipe,
  options: { readonly root: string; readonly raw: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const { espMiB, rootMiB, rootLabel } = recipe.disk;
  const rootStart = (1 + espMiB) * MIB;
  const bytes = rootStart + (rootMiB + 1) * MIB;
  const gpt = makeGpt(
    [
      { type: PARTITION_TYPES.esp, name: "esp", ...extent(MIB, espMiB * MIB) },
      { type: PARTITION_TYPES.linuxRootX64, name: "root", ...extent(rootStart, rootMiB * MIB) },
    ],
    { sectors: bytes / SECTOR },
  );
  const file = await open(options.raw, "wx", 0o600);
  try {
    await file.truncate(bytes);
    await file.write(gpt.head, 0, gpt.head.length, 0);
    await file.write(gpt.tail, 0, gpt.tail.length, gpt.tailOffset);
  } finally {
    await file.close();
  }
  await makeExt4({ ...options, offset: rootStart, kib: rootMiB * 1024, label: rootLabel });
}

/**
 * Converts a raw disk to a zstd-compressed qcow2, which reads several times as fast as a zlib one.
 * @throws DrumsError PROGRAM_FAILED, PROGRAM_MISSING, INTERRUPTED
 */
export async function convertToQcow2(
  raw: string,
  { target, signal }: { readonly target: string; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const format = ["-f", "raw", "-O", "qcow2", "-c", "-o", "compression_type=zstd"];
  await runHostProgram(["qemu-img", "convert", ...format, raw, target], { signal });
}

/**
 * mke2fs(8): without the `k` the size counts in blocks of a size not chosen yet, and -d then fails with
 * `__populate_fs: Could not allocate block`.
 */
async function makeExt4(options: {
  root: string;
  raw: string;
  offset: number;
  kib: number;
  label: string;
  signal?: AbortSignal | undefined;
}): Promise<void> {
  const { root, raw, offset, kib, label, signal } = options;
  const identity = ["-L", label, "-U", randomUUID()];
  const extended = ["-E", `offset=${offset}`];
  await runHostProgram(
    ["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", ...identity, "-d", root, ...extended, raw, `${kib}k`],
    { signal },
  );
}

function extent(start: number, bytes: number): { firstSector: number; sectors: number } {
  return { firstSector: start / SECTOR, sectors: bytes / SECTOR };
}
