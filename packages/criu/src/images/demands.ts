import { type file_entry, file_entrySchema } from "../gen/images_pb.js";
import { readProcesses } from "./processes.js";
import { MAGIC, readImage } from "./reader.js";
import { imageSizes } from "./sizes.js";

/** What a restored tree takes of the kernel and of memory, as its images tell. */
export interface Demands {
  readonly processes: number;
  /** Threads of all processes: each takes a pid. */
  readonly threads: number;
  /** Open files; descriptors that share one count once. */
  readonly openFiles: number;
  readonly inotifyInstances: number;
  readonly inotifyWatches: number;
  /** Memory pages, files without a name and the content of tmpfs mounts: none of it is shared between siblings. */
  readonly memoryBytes: number;
  /** Files that are open for writing: an overlay copies each into the sibling's own upper when it is restored. */
  readonly copiedUpBytes: number;
}

/** open(2): a mode of access other than reading. */
const O_ACCMODE = 3;

/** Reads what a restore from a dump takes. Nothing is restored. @throws {CriuError} `IMAGE_INVALID` */
export async function readDemands(folder: string): Promise<Demands> {
  const processes = await readProcesses(folder);
  const files =
    (await readImage(folder, "files.img", { schema: file_entrySchema, magic: MAGIC.files })) ?? [];
  const { pages, ghosts, tmpfs } = await imageSizes(folder);
  const watchers = files.flatMap(({ ify }) => (ify === undefined ? [] : [ify]));
  return {
    processes: processes.length,
    threads: processes.reduce((sum, { threads }) => sum + Math.max(threads, 1), 0),
    openFiles: files.length,
    inotifyInstances: watchers.length,
    inotifyWatches: watchers.reduce((sum, { wd }) => sum + wd.length, 0),
    memoryBytes: pages + ghosts + tmpfs,
    copiedUpBytes: copiedUp(files),
  };
}

/** A file that several open files write to is copied once. Of a log that is only appended to CRIU keeps no size. */
function copiedUp(files: readonly file_entry[]): number {
  const written = files.flatMap(({ reg }) =>
    reg !== undefined && (reg.flags & O_ACCMODE) !== 0 ? [reg] : [],
  );
  const sizes = new Map<string, number>();
  for (const { name, size } of written) sizes.set(name, Math.max(sizes.get(name) ?? 0, Number(size)));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
