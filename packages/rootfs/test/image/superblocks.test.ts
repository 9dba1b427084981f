import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import { bufferReader, fileReader, recogniseFilesystem } from "../../src/index.js";
import { MIB, makeExt4 } from "../helpers/disk.js";
import {
  blkid,
  btrfsSuperblock,
  erofsSuperblock,
  ext4Superblock,
  luksHeader,
  lvmLabel,
  squashfsSuperblock,
  UUID_TEXT,
  xfsSuperblock,
} from "../helpers/superblocks.js";
import { temporaryFolder } from "../helpers/temp.js";

function disk(bytes: Buffer, offset = 0): Buffer {
  const whole = Buffer.alloc(16 * MIB);
  bytes.copy(whole, offset);
  return whole;
}

const SAMPLES = [
  { kind: "ext4", at: 1024, bytes: ext4Superblock({ label: "one" }), label: "one", uuid: UUID_TEXT },
  { kind: "xfs", at: 0, bytes: xfsSuperblock("two"), label: "two", uuid: UUID_TEXT },
  { kind: "erofs", at: 1024, bytes: erofsSuperblock("three"), label: "three", uuid: UUID_TEXT },
  { kind: "btrfs", at: 65536, bytes: btrfsSuperblock("four"), label: "four", uuid: UUID_TEXT },
  { kind: "luks", at: 0, bytes: luksHeader(), label: "", uuid: UUID_TEXT },
  { kind: "lvm", at: 512, bytes: lvmLabel(), label: "", uuid: "abcdef-0123-4567-89ab-cdef-0123-456789" },
  { kind: "squashfs", at: 0, bytes: squashfsSuperblock(), label: "", uuid: "" },
] as const;

for (const { kind, at, bytes, label, uuid } of SAMPLES)
  test(`${kind} is recognised with its label and uuid`, async () => {
    expect(await recogniseFilesystem(bufferReader(disk(bytes, at)))).toEqual({
      kind,
      label,
      uuid,
      needsRecovery: false,
    });
  });

/** btrfs and lvm are left out because blkid wants their checksums as well. */
const WITHOUT_CHECKSUM = SAMPLES.filter(({ kind }) => kind !== "btrfs" && kind !== "lvm");

for (const { kind, at, bytes, label, uuid } of WITHOUT_CHECKSUM)
  testNeeding(["program:blkid"], `blkid agrees about the ${kind} sample`, async () => {
    const file = join(await temporaryFolder(), "disk");
    await writeFile(file, disk(bytes, at));
    const found = await blkid(file);
    expect(found.TYPE).toBe(kind === "luks" ? "crypto_LUKS" : kind);
    expect(found.UUID ?? "").toBe(uuid);
    expect(found.LABEL ?? "").toBe(label);
  });

for (const type of ["ext2", "ext3", "ext4"])
  testNeeding(["program:mke2fs", "program:blkid"], `a real ${type} is told from its relatives`, async () => {
    const file = join(await temporaryFolder(), "disk");
    await execa("mke2fs", ["-q", "-F", "-t", type, "-L", "label", file, "8192k"]);
    const found = await blkid(file);
    const bytes = await readFile(file);
    expect(await recogniseFilesystem(bufferReader(bytes))).toEqual({
      kind: type,
      label: "label",
      uuid: found.UUID,
      needsRecovery: false,
    });
    expect(found.TYPE).toBe(type);
  });

testNeeding(["program:mke2fs"], "a journal that needs replay is seen", async () => {
  const file = join(await temporaryFolder(), "disk");
  await makeExt4(file, { bytes: 8 * MIB });
  await execa("debugfs", ["-w", "-R", "feature needs_recovery", file]);
  const handle = await open(file);
  expect(await recogniseFilesystem(fileReader(handle))).toMatchObject({ kind: "ext4", needsRecovery: true });
  await handle.close();
});

testNeeding(["program:mkswap"], "swap is recognised", async () => {
  const file = join(await temporaryFolder(), "disk");
  await writeFile(file, Buffer.alloc(MIB), { mode: 0o600 });
  await execa("mkswap", ["-L", "sw", "-U", UUID_TEXT, file]);
  expect(await recogniseFilesystem(bufferReader(await readFile(file)))).toMatchObject({
    kind: "swap",
    label: "sw",
    uuid: UUID_TEXT,
  });
});

test("a label is shown without the control characters that a stranger put into it", async () => {
  const found = await recogniseFilesystem(bufferReader(disk(ext4Superblock({ label: "a\u001b[2J" }), 1024)));
  expect(found?.label).toBe("a?[2J");
});

test("zeros, and a disk shorter than a superblock, hold nothing", async () => {
  expect(await recogniseFilesystem(bufferReader(Buffer.alloc(MIB)))).toBeUndefined();
  for (const length of [0, 1, 511, 1024, 1100, 65536])
    expect(await recogniseFilesystem(bufferReader(Buffer.alloc(length)))).toBeUndefined();
});
