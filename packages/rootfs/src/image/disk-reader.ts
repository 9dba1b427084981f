import { execa } from "execa";
import { RootfsError, systemCode } from "../errors.js";
import { openImage } from "./digest.js";
import { fileReader, type ReadAt } from "./reader.js";
import type { ImageSource } from "./source.js";

const BLOCK_BYTES = 64 << 10;
const LINE = /^[0-9a-f]+:\s\s((?:[0-9a-f]{2} ){1,16})/;

export interface DiskReader {
  readonly read: ReadAt;
  close(): Promise<void>;
}

/**
 * Reads the disk inside an image without mounting anything and without root: a raw file directly,
 * a qcow2 through `qemu-io`, in blocks of 64 KiB that are kept. Meant for tables and superblocks, not for data.
 *
 * @throws RootfsError MISSING_PROGRAM, UNREADABLE from `read`
 */
export async function openDisk(source: ImageSource): Promise<DiskReader> {
  if (source.format === "raw") {
    const file = await openImage(source.path);
    return { read: fileReader(file), close: () => file.close() };
  }
  const blocks = new Map<number, Buffer>();
  return { read: (offset, length) => readBlocks(source, blocks, offset, length), close: async () => {} };
}

async function readBlocks(
  source: ImageSource,
  blocks: Map<number, Buffer>,
  offset: number,
  length: number,
): Promise<Buffer> {
  const end = Math.min(offset + length, source.virtualBytes);
  if (offset < 0 || offset >= end) return Buffer.alloc(0);
  const first = Math.floor(offset / BLOCK_BYTES);
  const last = Math.floor((end - 1) / BLOCK_BYTES);
  const wanted = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  if (wanted.some((block) => !blocks.has(block))) {
    const bytes = await readByQemu(source, first * BLOCK_BYTES, wanted.length * BLOCK_BYTES);
    for (const [index, block] of wanted.entries())
      blocks.set(block, bytes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES));
  }
  const whole = Buffer.concat(wanted.map((block) => blocks.get(block) ?? Buffer.alloc(0)));
  return whole.subarray(offset - first * BLOCK_BYTES, end - first * BLOCK_BYTES);
}

async function readByQemu(source: ImageSource, offset: number, length: number): Promise<Buffer> {
  const bytes = Math.min(length, source.virtualBytes - offset);
  const argv = ["-r", "-c", `read -v ${offset} ${bytes}`, `json:${JSON.stringify(source.node)}`];
  try {
    const { stdout } = await execa("qemu-io", argv, { maxBuffer: 8 * MAX_TEXT_PER_BYTE * (1 << 20) });
    return parseHexDump(stdout, bytes);
  } catch (error) {
    throw readFailed(source, offset, error);
  }
}

/** qemu-io prints 16 bytes to a line of some 80 characters. */
const MAX_TEXT_PER_BYTE = 6;

/** The bytes in qemu-io's `read -v` output. */
export function parseHexDump(text: string, bytes: number): Buffer {
  const result = Buffer.alloc(bytes);
  let filled = 0;
  for (const line of text.split("\n")) {
    const hex = LINE.exec(line)?.[1];
    if (hex === undefined) continue;
    filled += result.write(hex.replaceAll(" ", ""), filled, "hex");
  }
  if (filled !== bytes) throw new Error(`qemu-io gave ${filled} of ${bytes} bytes`);
  return result;
}

function readFailed(source: ImageSource, offset: number, cause: unknown): RootfsError {
  if (systemCode(cause) === "ENOENT")
    return new RootfsError("MISSING_PROGRAM", "qemu-io is not on PATH", {
      hint: "Install qemu-utils.",
      cause,
    });
  const stderr = String((cause as { stderr?: unknown }).stderr ?? "").trim();
  return new RootfsError(
    "UNREADABLE",
    `cannot read ${source.path} at ${offset}: ${stderr || String(cause)}`,
    {
      path: source.path,
      hint: "If a virtual machine has the image open, shut it down; else try `qemu-img check`.",
      cause,
    },
  );
}
