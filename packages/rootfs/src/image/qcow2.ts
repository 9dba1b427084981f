import { RootfsError } from "../errors.js";
import { openImage } from "./digest.js";
import { at, corrupt, truncated } from "./qcow2-errors.js";
import { type BitmapsExtension, MAX_NAME_BYTES, readExtensions } from "./qcow2-extensions.js";
import { fileReader } from "./reader.js";

/*
 * Offsets and limits are those of QEMU's docs/interop/qcow2.txt and block/qcow2.h. All numbers are
 * big-endian. Nothing read here is used as a length before it was compared with the limits below.
 */
const MAGIC = 0x514649fb; // "QFI\xfb"
const V2_HEADER_BYTES = 72;
const V3_HEADER_BYTES = 104;
const MIN_CLUSTER_BITS = 9;
const MAX_CLUSTER_BITS = 21;
const MAX_L1_BYTES = 32 << 20;
const MAX_REFCOUNT_TABLE_BYTES = 8 << 20;
const MAX_SNAPSHOTS = 65536;

const INCOMPATIBLE = { dirty: 0n, corrupt: 1n, dataFile: 2n, compressionType: 3n, extendedL2: 4n } as const;
const KNOWN_INCOMPATIBLE = 0b11111n;
const LAZY_REFCOUNTS = 1n;
/** Cleared by a writer that does not know them: what they stand for is then not to be believed. */
const AUTOCLEAR = { bitmaps: 1n, dataFileRaw: 2n } as const;

const COMPRESSION = ["zlib", "zstd"] as const;
const ENCRYPTION = ["none", "aes", "luks"] as const;

/** A qcow2 header, field by field; offsets and sizes in bytes of the file unless said otherwise. */
export interface Qcow2Header {
  readonly version: 2 | 3;
  readonly clusterBits: number;
  readonly clusterBytes: number;
  /** Size of the disk inside, in bytes. */
  readonly virtualBytes: number;
  readonly backingFile?: string;
  readonly backingFormat?: string;
  /** Name of an external data file; "" when the header says that there is one but not which. */
  readonly dataFile?: string;
  /** The data file alone is the whole disk, as a raw image. */
  readonly dataFileRaw: boolean;
  readonly encryption: (typeof ENCRYPTION)[number];
  readonly compression: (typeof COMPRESSION)[number];
  /** Entries of 8 bytes in the L1 table. */
  readonly l1Entries: number;
  readonly l1Offset: number;
  readonly refcountTableOffset: number;
  readonly refcountTableClusters: number;
  readonly refcountBits: number;
  readonly snapshots: number;
  readonly snapshotsOffset: number;
  /** Where the directory of persistent bitmaps is, while the header says that it is to be believed. */
  readonly bitmaps?: BitmapsExtension;
  /** Refcounts may lag behind: then `dirty` is set while the image is in use. */
  readonly lazyRefcounts: boolean;
  readonly dirty: boolean;
  readonly corrupt: boolean;
  readonly extendedL2: boolean;
  readonly incompatibleFeatures: bigint;
  readonly compatibleFeatures: bigint;
  readonly autoclearFeatures: bigint;
  readonly headerBytes: number;
}

/**
 * Reads a qcow2 header of version 2 or 3. It describes; whether the image is fit for use is
 * assertUsableQcow2's to say.
 *
 * @param bytes the beginning of the file, at least the header, at best the first cluster
 * @throws RootfsError NOT_QCOW2, UNSUPPORTED_QCOW2, CORRUPT, TRUNCATED
 */
export function parseQcow2Header(bytes: Buffer): Qcow2Header {
  if (bytes.length < 8 || bytes.readUInt32BE(0) !== MAGIC)
    throw new RootfsError("NOT_QCOW2", "the file does not begin with the qcow2 magic QFI\\xfb", {
      hint: "Give a qcow2 or raw image; convert others with `qemu-img convert -O qcow2`.",
    });
  const version = bytes.readUInt32BE(4);
  if (version !== 2 && version !== 3)
    throw new RootfsError("UNSUPPORTED_QCOW2", `qcow2 version ${version} is not known (2 and 3 are)`, {
      hint: "Convert the image with `qemu-img convert -O qcow2`.",
      facts: { version },
    });
  if (bytes.length < (version === 2 ? V2_HEADER_BYTES : V3_HEADER_BYTES)) throw truncated("the header");
  const clusterBits = checkedClusterBits(bytes.readUInt32BE(20));
  const features = readFeatures(bytes, version);
  const extensions = readExtensions(bytes, features.headerBytes, 2 ** clusterBits);
  const backingFile = readBackingName(bytes, 2 ** clusterBits);
  const dataFile = hasBit(features.incompatibleFeatures, "dataFile")
    ? (extensions.dataFile ?? "")
    : undefined;
  return {
    version,
    clusterBits,
    clusterBytes: 2 ** clusterBits,
    virtualBytes: readSize(bytes, 24, "the disk's size"),
    ...(backingFile === undefined ? {} : { backingFile }),
    ...(extensions.backingFormat === undefined ? {} : { backingFormat: extensions.backingFormat }),
    ...(dataFile === undefined ? {} : { dataFile }),
    dataFileRaw: (features.autoclearFeatures & AUTOCLEAR.dataFileRaw) !== 0n,
    encryption: named(ENCRYPTION, bytes.readUInt32BE(32), "encryption method"),
    compression: features.compression,
    l1Entries: bytes.readUInt32BE(36),
    l1Offset: readSize(bytes, 40, "the L1 table's offset"),
    refcountTableOffset: readSize(bytes, 48, "the refcount table's offset"),
    refcountTableClusters: bytes.readUInt32BE(56),
    refcountBits: features.refcountBits,
    snapshots: bytes.readUInt32BE(60),
    snapshotsOffset: readSize(bytes, 64, "the snapshot table's offset"),
    ...(extensions.bitmaps && (features.autoclearFeatures & AUTOCLEAR.bitmaps) !== 0n
      ? { bitmaps: extensions.bitmaps }
      : {}),
    lazyRefcounts: (features.compatibleFeatures & LAZY_REFCOUNTS) !== 0n,
    dirty: hasBit(features.incompatibleFeatures, "dirty"),
    corrupt: hasBit(features.incompatibleFeatures, "corrupt"),
    extendedL2: hasBit(features.incompatibleFeatures, "extendedL2"),
    incompatibleFeatures: features.incompatibleFeatures,
    compatibleFeatures: features.compatibleFeatures,
    autoclearFeatures: features.autoclearFeatures,
    headerBytes: features.headerBytes,
  };
}

/**
 * Reads the header of an image file.
 *
 * @throws RootfsError as parseQcow2Header, and NO_SUCH_IMAGE, NOT_A_FILE
 */
export async function readQcow2Header(path: string): Promise<Qcow2Header> {
  const file = await openImage(path);
  try {
    // Extensions and names lie in the first cluster, whose size the header gives; 1 MiB holds any real one.
    return parseQcow2Header(await fileReader(file)(0, 1 << 20));
  } catch (error) {
    throw error instanceof RootfsError ? at(error, path) : error;
  } finally {
    await file.close();
  }
}

/** What assertUsableQcow2 needs to know beside the header. */
export interface Qcow2Limits {
  /** Size of the image file in bytes. */
  readonly fileBytes: number;
  /** Named in errors. */
  readonly path?: string;
  /** Do not refuse a backing or data file: the caller checks its path. Default false. */
  readonly allowOtherFiles?: boolean;
}

/**
 * Refuses an image that would make QEMU open another file, that needs a key, that is marked corrupt,
 * or whose tables do not lie in the file.
 *
 * @throws RootfsError BACKING_FILE, DATA_FILE, ENCRYPTED, CORRUPT, TRUNCATED, UNSUPPORTED_QCOW2
 */
export function assertUsableQcow2(header: Qcow2Header, limits: Qcow2Limits): void {
  try {
    if (!limits.allowOtherFiles) assertAlone(header);
    assertReadable(header);
    assertTables(header, limits.fileBytes);
  } catch (error) {
    throw error instanceof RootfsError && limits.path ? at(error, limits.path) : error;
  }
}

function assertAlone({ backingFile, dataFile }: Qcow2Header): void {
  if (backingFile !== undefined)
    throw new RootfsError("BACKING_FILE", `the image has a backing file: ${JSON.stringify(backingFile)}`, {
      hint: "Flatten it with `qemu-img convert -O qcow2`, or allow that path explicitly.",
      facts: { backingFile },
    });
  if (dataFile !== undefined)
    throw new RootfsError(
      "DATA_FILE",
      `the image keeps its data in another file: ${JSON.stringify(dataFile)}`,
      {
        hint: "Flatten it with `qemu-img convert -O qcow2`, or allow that path explicitly.",
        facts: { dataFile },
      },
    );
}

function assertReadable(header: Qcow2Header): void {
  if (header.encryption !== "none")
    throw new RootfsError("ENCRYPTED", `the image is encrypted (${header.encryption})`, {
      hint: "Decrypt it with `qemu-img convert`, giving it the key.",
    });
  if (header.corrupt) throw corrupt("QEMU has set the corrupt bit in its header");
  const unknown = header.incompatibleFeatures & ~KNOWN_INCOMPATIBLE;
  if (unknown !== 0n)
    throw new RootfsError("UNSUPPORTED_QCOW2", `unknown incompatible features 0x${unknown.toString(16)}`, {
      hint: "Convert the image with a `qemu-img` that knows them.",
    });
}

function assertTables(header: Qcow2Header, fileBytes: number): void {
  const { clusterBytes, l1Entries, l1Offset, refcountTableClusters, refcountTableOffset } = header;
  if (l1Entries * 8 > MAX_L1_BYTES) throw corrupt(`its L1 table of ${l1Entries} entries is over 32 MiB`);
  if (l1Entries < neededL1Entries(header)) throw corrupt("its L1 table is too small for its size");
  if (refcountTableClusters * clusterBytes > MAX_REFCOUNT_TABLE_BYTES)
    throw corrupt(`its refcount table of ${refcountTableClusters} clusters is over 8 MiB`);
  if (refcountTableClusters === 0) throw corrupt("it has no refcount table");
  if (header.snapshots > MAX_SNAPSHOTS) throw corrupt(`it claims ${header.snapshots} snapshots`);
  assertInside("the L1 table", l1Offset, l1Entries * 8, header, fileBytes);
  assertInside(
    "the refcount table",
    refcountTableOffset,
    refcountTableClusters * clusterBytes,
    header,
    fileBytes,
  );
  if (header.snapshots > 0) assertInside("the snapshot table", header.snapshotsOffset, 1, header, fileBytes);
}

function assertInside(
  what: string,
  offset: number,
  bytes: number,
  header: Qcow2Header,
  fileBytes: number,
): void {
  if (bytes === 0) return;
  if (offset % header.clusterBytes !== 0 || offset === 0)
    throw corrupt(`${what} is at ${offset}, which is not the start of a cluster behind the header`);
  if (offset + bytes > fileBytes) throw truncated(what, { offset, bytes, fileBytes });
}

/** How many bytes of the disk one L1 entry covers. */
export function bytesPerL1Entry({ clusterBytes, extendedL2 }: Qcow2Header): number {
  return (clusterBytes / (extendedL2 ? 16 : 8)) * clusterBytes;
}

function neededL1Entries(header: Qcow2Header): number {
  return Math.ceil(header.virtualBytes / bytesPerL1Entry(header));
}

function checkedClusterBits(bits: number): number {
  if (bits >= MIN_CLUSTER_BITS && bits <= MAX_CLUSTER_BITS) return bits;
  throw corrupt(`its cluster size is 2^${bits} bytes (2^9 to 2^21 are valid)`);
}

function readFeatures(bytes: Buffer, version: 2 | 3) {
  if (version === 2)
    return {
      incompatibleFeatures: 0n,
      compatibleFeatures: 0n,
      autoclearFeatures: 0n,
      refcountBits: 16,
      headerBytes: V2_HEADER_BYTES,
      compression: "zlib" as const,
    };
  const incompatibleFeatures = bytes.readBigUInt64BE(72);
  const refcountOrder = bytes.readUInt32BE(96);
  const headerBytes = bytes.readUInt32BE(100);
  if (refcountOrder > 6) throw corrupt(`its refcount order is ${refcountOrder} (0 to 6 are valid)`);
  if (headerBytes < V3_HEADER_BYTES || headerBytes % 8 !== 0)
    throw corrupt(`its header length is ${headerBytes} (a multiple of 8 from ${V3_HEADER_BYTES} is valid)`);
  if (headerBytes > bytes.length) throw truncated("the header");
  // The compression type exists from a header of 112 bytes on; before that it is zlib.
  const type = headerBytes > V3_HEADER_BYTES ? bytes.readUInt8(104) : 0;
  if ((type !== 0) !== hasBit(incompatibleFeatures, "compressionType"))
    throw corrupt("its compression type and its compression feature bit disagree");
  return {
    incompatibleFeatures,
    compatibleFeatures: bytes.readBigUInt64BE(80),
    autoclearFeatures: bytes.readBigUInt64BE(88),
    refcountBits: 2 ** refcountOrder,
    headerBytes,
    compression: named(COMPRESSION, type, "compression type"),
  };
}

function readBackingName(bytes: Buffer, clusterBytes: number): string | undefined {
  const offset = readSize(bytes, 8, "the backing file name's offset");
  const length = bytes.readUInt32BE(16);
  if (offset === 0) return undefined;
  if (length > MAX_NAME_BYTES || offset + length > clusterBytes)
    throw corrupt(`its backing file name (${length} bytes at ${offset}) leaves the first cluster`);
  if (offset + length > bytes.length) throw truncated("the backing file's name");
  return bytes.toString("utf8", offset, offset + length);
}

function readSize(bytes: Buffer, offset: number, what: string): number {
  const value = bytes.readBigUInt64BE(offset);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw corrupt(`${what} is ${value}`);
  return Number(value);
}

function hasBit(features: bigint, name: keyof typeof INCOMPATIBLE): boolean {
  return ((features >> INCOMPATIBLE[name]) & 1n) === 1n;
}

function named<const T extends readonly string[]>(names: T, value: number, what: string): T[number] {
  const name = names[value];
  if (name !== undefined) return name;
  throw new RootfsError("UNSUPPORTED_QCOW2", `${what} ${value} is not known`, {
    hint: "Convert the image with `qemu-img convert -O qcow2`.",
  });
}
