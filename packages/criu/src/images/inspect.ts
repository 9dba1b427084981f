import { type FileTable, type ImageDescriptor, readDescriptors, readFileTable } from "./files.js";
import { type IdMaps, readIdMaps } from "./id-maps.js";
import { type ImageMemory, readMemory } from "./memory.js";
import { type ImageMount, readMounts } from "./mounts.js";
import { type ImageProcess, readProcesses } from "./processes.js";
import { type ImageSizes, imageSizes } from "./sizes.js";

/** A process of a dump with all that it holds. */
export interface InspectedProcess extends ImageProcess {
  readonly descriptors: readonly ImageDescriptor[];
  readonly memory: ImageMemory;
}

/** What a dump's images hold. */
export interface Inspection {
  /** Parents before their children. */
  readonly processes: readonly InspectedProcess[];
  readonly mounts: readonly ImageMount[];
  /** Undefined where the session has no user namespace of its own. */
  readonly idMaps: IdMaps | undefined;
  readonly sizes: ImageSizes;
}

/**
 * Reads a dump's images without CRIU: the process tree, each process's open files, sockets and memory, the mounts.
 * Images may come from anybody: sizes and counts are bounded, and what is not sound is refused.
 * @throws {CriuError} `IMAGE_INVALID`, naming the image
 */
export async function inspectImages(folder: string): Promise<Inspection> {
  const files = await readFileTable(folder);
  const processes: InspectedProcess[] = [];
  for (const one of await readProcesses(folder)) processes.push(await inspectProcess(folder, one, files));
  return {
    processes,
    mounts: await readMounts(folder),
    idMaps: await readIdMaps(folder),
    sizes: await imageSizes(folder),
  };
}

async function inspectProcess(
  folder: string,
  process: ImageProcess,
  files: FileTable,
): Promise<InspectedProcess> {
  const { filesId, pid } = process;
  return {
    ...process,
    descriptors: filesId === undefined ? [] : await readDescriptors(folder, filesId, files),
    memory: await readMemory(folder, pid, files),
  };
}
