import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { testNeeding } from "../../../../tools/testing/needs.js";
import {
  assertUsableQcow2,
  bufferReader,
  describeImage,
  parseQcow2Header,
  readQcow2Bitmaps,
  readQcow2Header,
  readQcow2Snapshots,
} from "../../src/index.js";
import { temporaryFolder } from "../helpers/temp.js";
import { failure } from "../helpers/throws.js";

/** What `qemu-img info --output=json` says of an image, as far as its header says it. */
interface QemuInfo {
  readonly "virtual-size": number;
  readonly "cluster-size": number;
  readonly "dirty-flag": boolean;
  readonly "backing-filename"?: string;
  readonly "backing-filename-format"?: string;
  readonly snapshots?: readonly Readonly<Record<string, string | number>>[];
  readonly "format-specific": { readonly data: Readonly<Record<string, unknown>> };
}

async function infoOf(file: string): Promise<QemuInfo> {
  // --force-share: it asks for no lock, and opens no backing file.
  return JSON.parse((await execa("qemu-img", ["info", "--force-share", "--output=json", file])).stdout);
}

/** Our own reading of an image in the words of qemu-img, key by key. */
async function readAsInfo(file: string): Promise<QemuInfo> {
  const header = await readQcow2Header(file);
  const bytes = await readFile(file);
  const snapshots = await readQcow2Snapshots(bufferReader(bytes), header);
  const bitmaps = await readQcow2Bitmaps(bufferReader(bytes), header);
  const { dataFile, backingFile, backingFormat, encryption } = header;
  return {
    "virtual-size": header.virtualBytes,
    "cluster-size": header.clusterBytes,
    "dirty-flag": header.dirty,
    ...(backingFile === undefined ? {} : { "backing-filename": backingFile }),
    ...(backingFormat === undefined ? {} : { "backing-filename-format": backingFormat }),
    ...(snapshots.length === 0
      ? {}
      : {
          snapshots: snapshots.map(({ id, name, takenAtNs, machineClockNs, stateBytes }) => ({
            id,
            name,
            "vm-state-size": stateBytes,
            "date-sec": Number(takenAtNs / 1_000_000_000n),
            "date-nsec": Number(takenAtNs % 1_000_000_000n),
            "vm-clock-sec": Number(machineClockNs / 1_000_000_000n),
            "vm-clock-nsec": Number(machineClockNs % 1_000_000_000n),
          })),
        }),
    "format-specific": {
      data: {
        compat: header.version === 2 ? "0.10" : "1.1",
        "compression-type": header.compression,
        "refcount-bits": header.refcountBits,
        // Of version 2 qemu-img tells no more.
        ...(header.version === 3
          ? {
              "lazy-refcounts": header.lazyRefcounts,
              corrupt: header.corrupt,
              "extended-l2": header.extendedL2,
            }
          : {}),
        ...(dataFile === undefined ? {} : { "data-file": dataFile, "data-file-raw": header.dataFileRaw }),
        ...(bitmaps.length === 0
          ? {}
          : {
              bitmaps: bitmaps.map(({ name, granularityBytes: granularity, inUse, auto }) => ({
                name,
                granularity,
                flags: [...(inUse ? ["in-use"] : []), ...(auto ? ["auto"] : [])],
              })),
            }),
        ...(encryption === "none" ? {} : { encrypt: { format: encryption } }),
      },
    },
  };
}

/** Leaves out of qemu-img's answer what does not come from the header's fields. */
function comparable({ "format-specific": { data }, ...info }: QemuInfo): QemuInfo {
  const { encrypt } = data as { readonly encrypt?: { readonly format: string } };
  const keys = ["virtual-size", "cluster-size", "dirty-flag", "backing-filename", "backing-filename-format"];
  const kept = Object.entries(info).filter(([key]) => keys.includes(key));
  const snapshots = info.snapshots?.map(({ icount: _icount, ...snapshot }) => snapshot);
  return {
    ...(Object.fromEntries(kept) as Pick<QemuInfo, "virtual-size" | "cluster-size" | "dirty-flag">),
    ...(snapshots ? { snapshots } : {}),
    "format-specific": { data: { ...data, ...(encrypt ? { encrypt: { format: encrypt.format } } : {}) } },
  };
}

async function expectSame(file: string): Promise<void> {
  expect(await readAsInfo(file)).toEqual(comparable(await infoOf(file)));
}

async function create(options: string, ...more: string[]): Promise<string> {
  const file = join(await temporaryFolder(), "image.qcow2");
  const option = options === "" ? [] : ["-o", options];
  await execa("qemu-img", ["create", "-q", "-f", "qcow2", ...option, ...more, file, "64M"]);
  return file;
}

const OPTIONS = [
  ...["compat=0.10", "compat=1.1", "lazy_refcounts=on"],
  ...[512, 4096, 65536, 2 << 20].map((bytes) => `cluster_size=${bytes}`),
  ...[1, 2, 4, 8, 16, 32, 64].map((bits) => `refcount_bits=${bits}`),
  ...["zlib", "zstd"].map((type) => `compression_type=${type}`),
  ...["extended_l2=on,cluster_size=16k", "extended_l2=on,cluster_size=2M,compression_type=zstd"],
];

testNeeding(
  ["program:qemu-img"],
  "each field of a header is what qemu-img says: versions, cluster sizes, refcount widths, compression, extended L2",
  async () => {
    for (const options of OPTIONS) await expectSame(await create(options));
  },
);

testNeeding(
  ["program:qemu-img"],
  "so are backing files with and without a format, and data files, raw ones too",
  async () => {
    const base = await create("");
    await expectSame(await create("", "-b", base, "-F", "qcow2"));
    await expectSame(await create("cluster_size=512,compat=0.10", "-b", base, "-F", "qcow2"));
    for (const raw of ["on", "off"]) {
      const data = join(await temporaryFolder(), "data.raw");
      await expectSame(await create(`data_file=${data},data_file_raw=${raw}`));
    }
  },
);

testNeeding(["program:qemu-img"], "so are internal snapshots and bitmaps, many of them", async () => {
  const file = await create("");
  for (const [name, ...options] of [
    ["first"],
    ["second, with ü", "-g", "512"],
    ["off", "--disable"],
  ] as const)
    await execa("qemu-img", ["bitmap", "--add", ...options, file, name]);
  for (const name of ["one", "two", "x".repeat(200)]) await execa("qemu-img", ["snapshot", "-c", name, file]);
  await expectSame(file);
  const { snapshots = [], bitmaps = [] } = await describeImage(file);
  expect(snapshots.map(({ name }) => name)).toEqual(["one", "two", "x".repeat(200)]);
  expect(snapshots[0]).toMatchObject({ id: "1", virtualBytes: 64 << 20 });
  expect(bitmaps.map(({ name, granularityBytes, auto }) => [name, granularityBytes, auto])).toEqual([
    ["first", 65536, true],
    ["second, with ü", 512, true],
    ["off", 65536, false],
  ]);
});

/** LUKS measures the processor for its key derivation, which now and then fails on a busy machine. */
async function createEncrypted(format: string): Promise<string> {
  for (let attempts = 1; ; attempts++)
    try {
      const secret = ["--object", "secret,id=key,data=secret"];
      const time = format === "luks" ? ",encrypt.iter-time=1000" : "";
      return await create(`encrypt.format=${format},encrypt.key-secret=key${time}`, ...secret);
    } catch (error) {
      if (attempts === 20 || !String(error).includes("CPU usage")) throw error;
    }
}

testNeeding(
  ["program:qemu-img"],
  "so are both kinds of encryption, and they are refused by name",
  async () => {
    for (const format of ["aes", "luks"]) {
      const file = await createEncrypted(format);
      await expectSame(file);
      expect((await failure(() => describeImage(file), "ENCRYPTED")).message).toContain(format);
    }
  },
);

testNeeding(
  ["program:qemu-img"],
  "so are the dirty and the corrupt bit: a dirty image is taken, for only its refcounts lag behind",
  async () => {
    for (const [bit, code] of [
      [1n, undefined],
      [2n, "CORRUPT"],
    ] as const) {
      const file = await create("lazy_refcounts=on");
      const bytes = await readFile(file);
      bytes.writeBigUInt64BE(bit, 72);
      await writeFile(file, bytes);
      await expectSame(file);
      if (code === undefined) expect((await describeImage(file)).header?.dirty).toBe(true);
      else await failure(() => describeImage(file), code);
    }
  },
);

testNeeding(
  ["program:qemu-img"],
  "bitmaps that a writer without knowledge of them left behind do not count",
  async () => {
    const file = await create("");
    await execa("qemu-img", ["bitmap", "--add", file, "stale"]);
    const bytes = await readFile(file);
    bytes.writeBigUInt64BE(0n, 88);
    await writeFile(file, bytes);
    expect((await describeImage(file)).bitmaps).toEqual([]);
    await expectSame(file);
  },
);

testNeeding(
  ["program:qemu-img"],
  "snapshot and bitmap tables with numbers that cannot be are refused, before anything is allocated",
  async () => {
    const file = await create("");
    await execa("qemu-img", ["bitmap", "--add", file, "one"]);
    await execa("qemu-img", ["snapshot", "-c", "one", file]);
    const good = await readFile(file);
    const { snapshotsOffset, bitmaps } = parseQcow2Header(good);
    const directory = bitmaps?.offset ?? 0;
    const changes: readonly [number, number][] = [
      [snapshotsOffset + 12, 0xffff_ffff], // lengths of id and name
      [snapshotsOffset + 36, 0xffff_ffff], // extra data
      [60, 65536], // snapshots: as many as may be, but not there
      [directory + 20, 0xffff_ffff], // a bitmap's extra data
      [directory + 16, 0x01ff_ffff], // granularity and the name's length
    ];
    for (const [offset, value] of changes) {
      const bytes = Buffer.from(good);
      bytes.writeUInt32BE(value, offset);
      await writeFile(file, bytes);
      const error = await describeImage(file).then(
        () => undefined,
        (caught) => caught,
      );
      expect(["CORRUPT", "TRUNCATED"], `${value} at ${offset}`).toContain(error?.code);
    }
  },
);

test("a snapshot table of as many entries as may be is read in few reads", async () => {
  const count = 65536;
  const table = Buffer.alloc(count * 40);
  let reads = 0;
  const read = async (offset: number, length: number) => {
    reads += 1;
    return table.subarray(offset, offset + length);
  };
  const found = await readQcow2Snapshots(read, { snapshots: count, snapshotsOffset: 0 });
  expect([found.length, reads < 20]).toEqual([count, true]);
});

testNeeding(
  ["program:qemu-img"],
  "a header whose snapshots lie behind the file's end is refused",
  async () => {
    const file = await create("");
    const bytes = await readFile(file);
    bytes.writeUInt32BE(1, 60);
    bytes.writeBigUInt64BE(1n << 30n, 64);
    await failure(
      async () => assertUsableQcow2(parseQcow2Header(bytes), { fileBytes: bytes.length }),
      "TRUNCATED",
    );
  },
);
