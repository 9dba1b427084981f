import { execa } from "execa";

const UUID = Buffer.from("0123456789abcdef0123456789abcdef", "hex");
export const UUID_TEXT = "01234567-89ab-cdef-0123-456789abcdef";

/** The 1024 bytes that lie 1024 bytes into an ext4 partition. */
export function ext4Superblock({ label = "", needsRecovery = false } = {}): Buffer {
  const block = Buffer.alloc(1024);
  block.writeUInt16LE(0xef53, 0x38);
  block.writeUInt32LE(0x4, 0x5c); // has_journal
  block.writeUInt32LE(0x40 | (needsRecovery ? 0x4 : 0), 0x60); // extents, recover
  UUID.copy(block, 0x68);
  block.write(label, 0x78);
  return block;
}

/** LUKS1: magic, version, and the uuid as text. */
export function luksHeader(): Buffer {
  const header = Buffer.alloc(1024);
  header.write("LUKS\xba\xbe", 0, "latin1");
  header.writeUInt16BE(1, 6);
  header.write(UUID_TEXT, 168);
  return header;
}

export function xfsSuperblock(label: string): Buffer {
  const block = Buffer.alloc(512);
  block.write("XFSB", 0);
  block.writeUInt32BE(4096, 4); // block size
  block.writeBigUInt64BE(4096n, 8); // blocks
  UUID.copy(block, 32);
  block.writeUInt32BE(1, 80); // realtime extent size
  block.writeUInt32BE(1024, 84); // blocks in a group
  block.writeUInt32BE(4, 88); // groups
  block.writeUInt32BE(855, 96); // log blocks
  block.writeUInt16BE(0xb4a5, 100); // version 5
  block.writeUInt16BE(512, 102); // sector size
  block.writeUInt16BE(512, 104); // inode size
  block.writeUInt16BE(8, 106);
  block.write(label, 108);
  block.set([12, 9, 9, 3, 10, 0, 25], 120); // logarithms, share of inodes in percent
  return block;
}

export function erofsSuperblock(label: string): Buffer {
  const block = Buffer.alloc(128);
  block.writeUInt32LE(0xe0f5e1e2, 0);
  block.writeUInt8(12, 12);
  UUID.copy(block, 48);
  block.write(label, 64);
  return block;
}

export function btrfsSuperblock(label: string): Buffer {
  const block = Buffer.alloc(4096);
  UUID.copy(block, 0x20);
  block.write("_BHRfS_M", 0x40);
  block.write(label, 0x12b);
  return block;
}

export function lvmLabel(): Buffer {
  const sector = Buffer.alloc(512);
  sector.write("LABELONE", 0);
  sector.writeBigUInt64LE(1n, 8);
  sector.writeUInt32LE(32, 20);
  sector.write("LVM2 001", 24);
  sector.write("abcdef0123456789abcdef0123456789", 32);
  return sector;
}

export function squashfsSuperblock(): Buffer {
  const block = Buffer.alloc(96);
  block.write("hsqs", 0);
  block.writeUInt16LE(4, 28); // version
  return block;
}

/** What blkid finds in a file, by its own superblock readers. */
export async function blkid(file: string): Promise<Record<string, string>> {
  const { stdout } = await execa("blkid", ["-p", "-o", "export", file], { reject: false });
  return Object.fromEntries(stdout.split("\n").map((line) => line.replaceAll("\\", "").split("=", 2)));
}
