import { mm_entrySchema, type pagemap_entry, pagemap_entrySchema, type vma_entry } from "../gen/images_pb.js";
import type { FileTable } from "./files.js";
import { decode, entriesOf, MAGIC, readImage, readImageFile } from "./reader.js";

/** criu/include/image.h: what a mapping is. */
const VMA = {
  stack: 1 << 1,
  vsyscall: 1 << 2,
  vdso: 1 << 3,
  heap: 1 << 5,
  filePrivate: 1 << 6,
  fileShared: 1 << 7,
  anonymousShared: 1 << 8,
  sysvIpc: 1 << 10,
  vvar: 1 << 12,
} as const;

/** criu/include/pagemap.h: the pages are in this dump's own pages image. */
const PAGES_PRESENT = 1 << 2;
const PAGE_BYTES = 4096n;

/** What a mapping is backed by. */
export type MappingKind = "file" | "heap" | "stack" | "anonymous" | "shared" | "kernel";

/** A mapping of a process's address space. */
export interface ImageMapping {
  /** Address in hexadecimal, such as `7f3c1a000000`. */
  readonly start: string;
  readonly end: string;
  readonly kind: MappingKind;
  /** As /proc/PID/maps writes it: `r-xp`. */
  readonly permissions: string;
  /** Of a file mapping. */
  readonly path?: string;
  /** Bytes of it that the images hold; the rest is read from its file or was never touched. */
  readonly savedBytes: number;
}

/** Memory of one process. */
export interface ImageMemory {
  readonly exe: string | undefined;
  readonly mappings: readonly ImageMapping[];
  readonly savedBytes: number;
}

/** Reads a process's mappings and what of each was saved. A zombie has none. @throws {CriuError} `IMAGE_INVALID` */
export async function readMemory(folder: string, pid: number, files: FileTable): Promise<ImageMemory> {
  const [mm] = (await readImage(folder, `mm-${pid}.img`, { schema: mm_entrySchema, magic: MAGIC.mm })) ?? [];
  if (mm === undefined) return { exe: undefined, mappings: [], savedBytes: 0 };
  const saved = await readPagemap(folder, `pagemap-${pid}.img`);
  const perMapping = savedByMapping(mm.vmas, saved);
  const mappings = mm.vmas.map((vma, index) => mappingOf(vma, files, perMapping[index] ?? 0));
  return {
    exe: files.get(mm.exeFileId)?.path,
    mappings,
    savedBytes: mappings.reduce((sum, { savedBytes }) => sum + savedBytes, 0),
  };
}

/** A run of saved pages. */
interface Run {
  readonly start: bigint;
  readonly end: bigint;
}

/** The first entry names the pages image; each other one a run of pages (criu/pagemap.c). */
async function readPagemap(folder: string, name: string): Promise<Run[]> {
  const image = await readImageFile(folder, name);
  if (image === undefined) return [];
  const [, ...entries] = entriesOf(image, { magic: MAGIC.pagemap, where: name });
  return entries
    .map((bytes) => decode(pagemap_entrySchema, bytes, name))
    .filter(({ flags }) => (flags & PAGES_PRESENT) !== 0)
    .map(runOf)
    .sort((a, b) => (a.start < b.start ? -1 : 1));
}

function runOf({ vaddr, compatNrPages, nrPages }: pagemap_entry): Run {
  return { start: vaddr, end: vaddr + (nrPages || BigInt(compatNrPages)) * PAGE_BYTES };
}

/** Both lists are walked once: a hostile image of a million runs must not cost a million times its mappings. */
function savedByMapping(vmas: readonly vma_entry[], runs: readonly Run[]): number[] {
  const order = vmas.map((_, index) => index).sort((a, b) => (startOf(vmas, a) < startOf(vmas, b) ? -1 : 1));
  const saved = new Array<number>(vmas.length).fill(0);
  let next = 0;
  for (const index of order) {
    const vma = vmas[index];
    if (vma === undefined) continue;
    while (next < runs.length && (runs[next]?.end ?? 0n) <= vma.start) next += 1;
    for (let at = next; at < runs.length; at++) {
      const run = runs[at];
      if (run === undefined || run.start >= vma.end) break;
      saved[index] = (saved[index] ?? 0) + overlap(run, vma);
      next = at;
    }
  }
  return saved;
}

const startOf = (vmas: readonly vma_entry[], index: number) => vmas[index]?.start ?? 0n;

function overlap(run: Run, vma: vma_entry): number {
  if (run.end <= vma.start || run.start >= vma.end) return 0;
  const before = run.start < vma.start ? vma.start - run.start : 0n;
  const behind = run.end > vma.end ? run.end - vma.end : 0n;
  return Number(run.end - run.start - before - behind);
}

function mappingOf(vma: vma_entry, files: FileTable, savedBytes: number): ImageMapping {
  const kind = kindOf(vma.status);
  const path = kind === "file" ? files.get(Number(vma.shmid))?.path : undefined;
  return {
    start: vma.start.toString(16),
    end: vma.end.toString(16),
    kind,
    permissions: permissionsOf(vma),
    ...(path === undefined ? {} : { path }),
    savedBytes,
  };
}

function kindOf(status: number): MappingKind {
  const is = (bits: number) => (status & bits) !== 0;
  if (is(VMA.filePrivate | VMA.fileShared)) return "file";
  if (is(VMA.anonymousShared | VMA.sysvIpc)) return "shared";
  if (is(VMA.vdso | VMA.vvar | VMA.vsyscall)) return "kernel";
  if (is(VMA.heap)) return "heap";
  return is(VMA.stack) ? "stack" : "anonymous";
}

/** PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 of mmap(2). */
function permissionsOf({ prot, status }: vma_entry): string {
  const shared = (status & (VMA.fileShared | VMA.anonymousShared | VMA.sysvIpc)) !== 0;
  return `${prot & 1 ? "r" : "-"}${prot & 2 ? "w" : "-"}${prot & 4 ? "x" : "-"}${shared ? "s" : "p"}`;
}
