import { bufferReader, parsePartitions } from "@drums/rootfs";
import { expect, test } from "vitest";
import { makeGpt, PARTITION_TYPES, SECTOR } from "../../src/image/gpt.js";

const SECTORS = 16 * 2048;
const PARTITIONS = [
  { type: PARTITION_TYPES.esp, name: "esp", firstSector: 2048, sectors: 2048 },
  { type: PARTITION_TYPES.linuxRootX64, name: "root", firstSector: 4096, sectors: 8192 },
];

function disk(): Buffer {
  const { head, tail, tailOffset } = makeGpt(PARTITIONS, { sectors: SECTORS });
  const bytes = Buffer.alloc(SECTORS * SECTOR);
  head.copy(bytes, 0);
  tail.copy(bytes, tailOffset);
  return bytes;
}

const read = (bytes: Buffer) => parsePartitions(bufferReader(bytes), bytes.length);
const expected = [
  { index: 1, start: 2048 * SECTOR, bytes: 2048 * SECTOR, typeGuid: PARTITION_TYPES.esp, label: "esp" },
  {
    index: 2,
    start: 4096 * SECTOR,
    bytes: 8192 * SECTOR,
    typeGuid: PARTITION_TYPES.linuxRootX64,
    label: "root",
  },
];

test("a reader that shares no code finds the partitions as they were asked for", async () => {
  const { kind, partitions } = await read(disk());
  expect(kind).toBe("gpt");
  expect(partitions).toMatchObject(expected);
});

test("the backup table alone is enough when the first is gone", async () => {
  const bytes = disk();
  bytes.fill(0, SECTOR, 34 * SECTOR);
  expect((await read(bytes)).partitions).toMatchObject(expected);
});

test("the tables end where the disk ends", () => {
  const { tail, tailOffset } = makeGpt(PARTITIONS, { sectors: SECTORS });
  expect(tailOffset + tail.length).toBe(SECTORS * SECTOR);
});
