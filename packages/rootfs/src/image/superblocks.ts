import type { ReadAt } from "./reader.js";

/** What a superblock says that a partition holds. */
export type FilesystemKind =
  | "ext2"
  | "ext3"
  | "ext4"
  | "xfs"
  | "btrfs"
  | "squashfs"
  | "erofs"
  | "vfat"
  | "swap"
  | "luks"
  | "lvm";

export interface Filesystem {
  readonly kind: FilesystemKind;
  readonly label: string;
  /** As blkid prints it; "" where the format has none. */
  readonly uuid: string;
  /** The ext journal holds changes that a read-only mount without replay would not see. */
  readonly needsRecovery: boolean;
}

/** Kinds that this package mounts, with the kernel's driver for each. */
export const MOUNTABLE: Readonly<Partial<Record<FilesystemKind, string>>> = {
  ext2: "ext4",
  ext3: "ext4",
  ext4: "ext4",
  xfs: "xfs",
  btrfs: "btrfs",
  squashfs: "squashfs",
  erofs: "erofs",
};

/** The last superblock looked at is btrfs's, at 64 KiB. */
const PROBE_BYTES = (64 << 10) + 4096;

/**
 * Recognises a filesystem, or a container such as LUKS, by its superblock.
 *
 * @returns undefined when no known superblock is there
 */
export async function recogniseFilesystem(read: ReadAt): Promise<Filesystem | undefined> {
  const bytes = await read(0, PROBE_BYTES);
  // LUKS and LVM first: their headers leave old superblocks behind them untouched.
  for (const recognise of [luks, lvm, squashfs, xfs, btrfs, erofs, ext, swap, vfat]) {
    const found = recognise(bytes);
    if (found) return found;
  }
  return undefined;
}

/** linux/Documentation/filesystems/ext4/super.rst; the superblock is at 1024. */
function ext(bytes: Buffer): Filesystem | undefined {
  const block = bytes.subarray(1024, 2048);
  if (block.length < 1024 || block.readUInt16LE(0x38) !== 0xef53) return undefined;
  const compatible = block.readUInt32LE(0x5c);
  const incompatible = block.readUInt32LE(0x60);
  const readOnlyCompatible = block.readUInt32LE(0x64);
  const hasJournal = (compatible & 0x4) !== 0;
  // What only ext4 has: journal device, extents, 64bit, mmp, flex_bg and up; huge_file and up.
  const isExt4 = (incompatible & ~(0x1 | 0x2 | 0x4 | 0x8 | 0x10)) !== 0 || (readOnlyCompatible & ~0x7) !== 0;
  return {
    kind: isExt4 ? "ext4" : hasJournal ? "ext3" : "ext2",
    label: text(block, 0x78, 16),
    uuid: uuid(block, 0x68),
    needsRecovery: hasJournal && (incompatible & 0x4) !== 0,
  };
}

function xfs(bytes: Buffer): Filesystem | undefined {
  if (!startsWith(bytes, 0, "XFSB") || bytes.length < 512) return undefined;
  return plain("xfs", text(bytes, 108, 12), uuid(bytes, 32));
}

function btrfs(bytes: Buffer): Filesystem | undefined {
  const block = bytes.subarray(64 << 10);
  if (!startsWith(block, 0x40, "_BHRfS_M") || block.length < 0x300) return undefined;
  return plain("btrfs", text(block, 0x12b, 256), uuid(block, 0x20));
}

function squashfs(bytes: Buffer): Filesystem | undefined {
  return startsWith(bytes, 0, "hsqs") ? plain("squashfs", "", "") : undefined;
}

function erofs(bytes: Buffer): Filesystem | undefined {
  const block = bytes.subarray(1024);
  if (block.length < 128 || block.readUInt32LE(0) !== 0xe0f5e1e2) return undefined;
  return plain("erofs", text(block, 64, 16), uuid(block, 48));
}

function luks(bytes: Buffer): Filesystem | undefined {
  if (!startsWith(bytes, 0, "LUKS\xba\xbe") || bytes.length < 512) return undefined;
  const label = bytes.readUInt16BE(6) === 2 ? text(bytes, 24, 48) : "";
  return plain("luks", label, text(bytes, 168, 40));
}

/** The label is in one of the first four sectors. */
function lvm(bytes: Buffer): Filesystem | undefined {
  for (let sector = 0; sector < 4; sector++) {
    const at = sector * 512;
    if (!startsWith(bytes, at, "LABELONE") || !startsWith(bytes, at + 24, "LVM2 001")) continue;
    return plain("lvm", "", lvmUuid(text(bytes, at + 32, 32)));
  }
  return undefined;
}

function swap(bytes: Buffer): Filesystem | undefined {
  if (!startsWith(bytes, 4086, "SWAPSPACE2")) return undefined;
  return plain("swap", text(bytes, 1024 + 28, 16), uuid(bytes, 1024 + 12));
}

function vfat(bytes: Buffer): Filesystem | undefined {
  if (bytes.length < 512 || bytes.readUInt16LE(510) !== 0xaa55) return undefined;
  const wide = startsWith(bytes, 82, "FAT32   ");
  if (!wide && !startsWith(bytes, 54, "FAT16   ") && !startsWith(bytes, 54, "FAT12   ")) return undefined;
  const serial = bytes
    .readUInt32LE(wide ? 67 : 39)
    .toString(16)
    .toUpperCase()
    .padStart(8, "0");
  const label = text(bytes, wide ? 71 : 43, 11).trimEnd();
  return plain("vfat", label === "NO NAME" ? "" : label, `${serial.slice(0, 4)}-${serial.slice(4)}`);
}

function plain(kind: FilesystemKind, label: string, id: string): Filesystem {
  return { kind, label, uuid: id, needsRecovery: false };
}

function startsWith(bytes: Buffer, offset: number, magic: string): boolean {
  return (
    bytes.length >= offset + magic.length && bytes.toString("latin1", offset, offset + magic.length) === magic
  );
}

/** Text up to the first NUL, without control characters: it is shown to people and comes from a stranger. */
function text(bytes: Buffer, offset: number, length: number): string {
  const raw = bytes.toString("utf8", offset, offset + length);
  const end = raw.indexOf("\0");
  return (end < 0 ? raw : raw.slice(0, end)).replace(/\p{Cc}/gu, "?");
}

function uuid(bytes: Buffer, offset: number): string {
  const hex = bytes.toString("hex", offset, offset + 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

function lvmUuid(id: string): string {
  return id.replace(/^(.{6})(.{4})(.{4})(.{4})(.{4})(.{4})(.{6})$/, "$1-$2-$3-$4-$5-$6-$7");
}
