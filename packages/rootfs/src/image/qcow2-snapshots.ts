import type { Qcow2Header } from "./qcow2.js";
import { corrupt, truncated } from "./qcow2-errors.js";
import type { ReadAt } from "./reader.js";

const FIXED_BYTES = 40;
/** QEMU's own limits: QCOW_MAX_SNAPSHOT_EXTRA_DATA, and an id and a name of 16 bits each. */
const MAX_EXTRA_BYTES = 1024;
const MAX_ENTRY_BYTES = FIXED_BYTES + MAX_EXTRA_BYTES + 2 * 0xffff + 8;
/** Of all entries together. QEMU allows 1 GiB; a real table has some hundred bytes. */
const MAX_TABLE_BYTES = 16 << 20;
/** Read at once: more than one entry of the largest. */
const WINDOW_BYTES = 512 << 10;

/** An internal snapshot. It is not served: the image's own state is. */
export interface Qcow2Snapshot {
  readonly id: string;
  readonly name: string;
  /** Nanoseconds since 1970. */
  readonly takenAtNs: bigint;
  /** Nanoseconds that the machine had run. */
  readonly machineClockNs: bigint;
  /** Size of the saved memory; 0 for a snapshot of the disk alone. */
  readonly stateBytes: number;
  /** Size of the disk then, where the entry tells it. */
  readonly virtualBytes?: number;
}

/**
 * Reads the snapshot table (qcow2.txt, "Snapshots"). Entries are of any length and follow each other, each on a
 * multiple of 8 bytes.
 *
 * @throws RootfsError CORRUPT, TRUNCATED
 */
export async function readQcow2Snapshots(
  read: ReadAt,
  { snapshots, snapshotsOffset }: Pick<Qcow2Header, "snapshots" | "snapshotsOffset">,
): Promise<Qcow2Snapshot[]> {
  const found: Qcow2Snapshot[] = [];
  let window: Buffer = Buffer.alloc(0);
  let windowAt = snapshotsOffset;
  for (let offset = snapshotsOffset; found.length < snapshots; ) {
    if (offset - snapshotsOffset > MAX_TABLE_BYTES) throw corrupt("its snapshot table is over 16 MiB");
    const endsEarly = window.length < WINDOW_BYTES && window.length > 0;
    if (!endsEarly && offset + MAX_ENTRY_BYTES > windowAt + window.length) {
      window = await read(offset, WINDOW_BYTES);
      windowAt = offset;
    }
    const { snapshot, bytes } = parseEntry(window.subarray(offset - windowAt));
    found.push(snapshot);
    offset += Math.ceil(bytes / 8) * 8;
  }
  return found;
}

function parseEntry(entry: Buffer): { snapshot: Qcow2Snapshot; bytes: number } {
  if (entry.length < FIXED_BYTES) throw truncated("a snapshot");
  const [idBytes, nameBytes] = [entry.readUInt16BE(12), entry.readUInt16BE(14)];
  const extraBytes = entry.readUInt32BE(36);
  if (extraBytes > MAX_EXTRA_BYTES) throw corrupt(`a snapshot has ${extraBytes} bytes of extra data`);
  const idAt = FIXED_BYTES + extraBytes;
  const nameAt = idAt + idBytes;
  const bytes = nameAt + nameBytes;
  if (bytes > entry.length) throw truncated("a snapshot");
  const extra = entry.subarray(FIXED_BYTES, idAt);
  const stateBytes = extraBytes >= 8 ? extra.readBigUInt64BE(0) : BigInt(entry.readUInt32BE(32));
  return {
    snapshot: {
      id: entry.toString("utf8", idAt, nameAt),
      name: entry.toString("utf8", nameAt, bytes),
      takenAtNs: BigInt(entry.readUInt32BE(16)) * 1_000_000_000n + BigInt(entry.readUInt32BE(20)),
      machineClockNs: entry.readBigUInt64BE(24),
      stateBytes: sizeOf(stateBytes),
      ...(extraBytes >= 16 ? { virtualBytes: sizeOf(extra.readBigUInt64BE(8)) } : {}),
    },
    bytes,
  };
}

function sizeOf(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw corrupt(`a snapshot is of ${value} bytes`);
  return Number(value);
}
