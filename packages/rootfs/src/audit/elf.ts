import { open } from "node:fs/promises";
import { RootfsError } from "../errors.js";
import { fileReader, type ReadAt } from "../image/reader.js";

/*
 * Layout and numbers are those of elf(5) and glibc's elf/elf.h. Nothing read here is used as a length or
 * an offset before it was compared with the limits below.
 */
const MAX_PROGRAM_HEADERS = 512;
const MAX_DYNAMIC_BYTES = 256 << 10;
const MAX_NEEDED = 1024;
const MAX_STRING_BYTES = 4096;

const PT = { load: 1, dynamic: 2, interp: 3 } as const;
const DT = {
  null: 0n,
  needed: 1n,
  strtab: 5n,
  soname: 14n,
  rpath: 15n,
  runpath: 29n,
  flags1: 0x6ffffffbn,
} as const;
/** DF_1_NODEFLIB: the linker's -z nodefaultlib. */
const NO_DEFAULT_LIBRARIES = 0x800n;

/** What the dynamic loader reads of a file. */
export interface ElfFile {
  readonly bits: 32 | 64;
  /** e_machine: 62 for x86-64, 183 for aarch64, 3 for i386. */
  readonly machine: number;
  /** PT_INTERP: the loader that the kernel starts. */
  readonly interpreter?: string;
  /** DT_NEEDED, in the file's order. */
  readonly needed: readonly string[];
  readonly soname?: string;
  /** DT_RPATH, left out where the loader ignores it because there is a DT_RUNPATH. */
  readonly rpath?: string;
  readonly runpath?: string;
  /** The loader looks neither into the default folders nor, for those, into its cache. */
  readonly noDefaultLibraries: boolean;
}

/**
 * Reads the headers and the dynamic section of a little-endian ELF file.
 *
 * @throws RootfsError NOT_ELF for another kind of file, BAD_ELF for a damaged or hostile one
 */
export async function parseElf(read: ReadAt): Promise<ElfFile> {
  const head = await readHead(read);
  const layout = layoutOf(head);
  const segments = await readSegments(read, head, layout);
  const interp = segments.find(({ type }) => type === PT.interp);
  const interpreter = interp && (await stringAt(read, interp.offset));
  return {
    bits: layout.bits,
    machine: head.readUInt16LE(18),
    ...(interpreter === undefined ? {} : { interpreter }),
    ...(await readDynamic(read, segments, layout)),
  };
}

/**
 * {@link parseElf} of a file of the host.
 *
 * @throws RootfsError NOT_ELF, BAD_ELF; and Node's own errors for what cannot be opened
 */
export async function readElf(path: string): Promise<ElfFile> {
  const file = await open(path, "r");
  try {
    return await parseElf(fileReader(file));
  } finally {
    await file.close();
  }
}

/** What kind of machine an ELF file is for; nothing more of it is looked at. */
export type ElfKind = Pick<ElfFile, "bits" | "machine">;

/**
 * The kind of a file of the host.
 *
 * @throws RootfsError NOT_ELF, BAD_ELF
 */
export async function readElfKind(path: string): Promise<ElfKind> {
  const file = await open(path, "r");
  try {
    const head = await readHead(fileReader(file));
    return { bits: layoutOf(head).bits, machine: head.readUInt16LE(18) };
  } finally {
    await file.close();
  }
}

async function readHead(read: ReadAt): Promise<Buffer> {
  const head = await read(0, 64);
  if (head.length >= 20 && head.readUInt32BE(0) === 0x7f454c46) return head;
  throw new RootfsError("NOT_ELF", "it does not begin with the ELF magic", {
    hint: "Give a program or a library.",
  });
}

interface Layout {
  readonly bits: 32 | 64;
  readonly headerBytes: number;
  /** A number as wide as an address. */
  word(bytes: Buffer, offset: number): bigint;
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly bytes: number;
}

function layoutOf(head: Buffer): Layout {
  const [kind, order] = [head[4], head[5]];
  if (order !== 1 || (kind !== 1 && kind !== 2)) throw bad("it is neither 32 nor 64 bits little-endian");
  if (head.length < (kind === 1 ? 52 : 64)) throw bad("it ends inside its header");
  return kind === 1
    ? { bits: 32, headerBytes: 32, word: (bytes, offset) => BigInt(bytes.readUInt32LE(offset)) }
    : { bits: 64, headerBytes: 56, word: (bytes, offset) => bytes.readBigUInt64LE(offset) };
}

async function readSegments(read: ReadAt, head: Buffer, layout: Layout): Promise<Segment[]> {
  const { bits, headerBytes, word } = layout;
  const start = position(word(head, bits === 64 ? 32 : 28));
  const [size, count] = [head.readUInt16LE(bits === 64 ? 54 : 42), head.readUInt16LE(bits === 64 ? 56 : 44)];
  if (count > MAX_PROGRAM_HEADERS) throw bad(`it claims ${count} program headers`);
  if (count > 0 && size !== headerBytes) throw bad(`its program headers take ${size} bytes each`);
  const table = await read(start, count * headerBytes);
  if (table.length < count * headerBytes) throw bad("it ends inside its program headers");
  return Array.from({ length: count }, (_, index) => {
    const entry = table.subarray(index * headerBytes, (index + 1) * headerBytes);
    const [offset, address, bytes] = bits === 64 ? [8, 16, 32] : [4, 8, 16];
    return {
      type: entry.readUInt32LE(0),
      offset: position(word(entry, offset)),
      address: word(entry, address),
      bytes: position(word(entry, bytes)),
    };
  });
}

type Dynamic = Omit<ElfFile, "bits" | "machine" | "interpreter">;

async function readDynamic(read: ReadAt, segments: readonly Segment[], layout: Layout): Promise<Dynamic> {
  const dynamic = segments.find(({ type }) => type === PT.dynamic);
  if (!dynamic) return { needed: [], noDefaultLibraries: false };
  if (dynamic.bytes > MAX_DYNAMIC_BYTES) throw bad(`its dynamic section takes ${dynamic.bytes} bytes`);
  const entries = entriesOf(await read(dynamic.offset, dynamic.bytes), layout);
  const table = entries.find(({ tag }) => tag === DT.strtab);
  const strings = table === undefined ? undefined : fileOffset(segments, table.value);
  const text = async (value: bigint) => {
    if (strings === undefined) throw bad("it has no string table");
    return await stringAt(read, strings + position(value));
  };
  const one = async (wanted: bigint) => {
    // Of a tag that comes twice the loader keeps the last (elf_get_dynamic_info).
    const entry = entries.filter(({ tag }) => tag === wanted).at(-1);
    return entry && (await text(entry.value));
  };
  const needed = entries.filter(({ tag }) => tag === DT.needed);
  if (needed.length > MAX_NEEDED) throw bad(`it needs ${needed.length} libraries`);
  const [soname, rpath, runpath] = [await one(DT.soname), await one(DT.rpath), await one(DT.runpath)];
  const flags = entries.filter(({ tag }) => tag === DT.flags1).at(-1)?.value ?? 0n;
  return {
    needed: await Promise.all(needed.map(({ value }) => text(value))),
    ...(soname === undefined ? {} : { soname }),
    ...(rpath === undefined || runpath !== undefined ? {} : { rpath }),
    ...(runpath === undefined ? {} : { runpath }),
    noDefaultLibraries: (flags & NO_DEFAULT_LIBRARIES) !== 0n,
  };
}

function entriesOf(bytes: Buffer, { bits, word }: Layout): { tag: bigint; value: bigint }[] {
  const width = bits / 8;
  const entries: { tag: bigint; value: bigint }[] = [];
  for (let at = 0; at + 2 * width <= bytes.length; at += 2 * width) {
    const tag = word(bytes, at);
    if (tag === DT.null) break;
    entries.push({ tag, value: word(bytes, at + width) });
  }
  return entries;
}

/** DT_STRTAB is an address; the segment that is loaded there says where it is in the file. */
function fileOffset(segments: readonly Segment[], address: bigint): number {
  const segment = segments.find(
    ({ type, address: start, bytes }) =>
      type === PT.load && address >= start && address < start + BigInt(bytes),
  );
  if (!segment) throw bad("its string table lies in no segment");
  return segment.offset + Number(address - segment.address);
}

async function stringAt(read: ReadAt, offset: number): Promise<string> {
  const bytes = await read(offset, MAX_STRING_BYTES);
  const end = bytes.indexOf(0);
  if (end < 0) throw bad(`a string at ${offset} has no end`);
  return bytes.toString("utf8", 0, end);
}

function position(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw bad(`it speaks of a place or size of ${value}`);
  return Number(value);
}

function bad(why: string): RootfsError {
  return new RootfsError("BAD_ELF", `the ELF file is damaged: ${why}`, {
    hint: "Install its package again in the image.",
  });
}
