import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { RootfsError } from "../errors.js";
import { type FileIdentity, identityOf, openImage } from "./digest.js";
import { assertUsableQcow2, parseQcow2Header, type Qcow2Header } from "./qcow2.js";
import { type Qcow2Bitmap, readQcow2Bitmaps } from "./qcow2-bitmaps.js";
import { at } from "./qcow2-errors.js";
import { checkQcow2Extents, type Qcow2Extents } from "./qcow2-extents.js";
import { type Qcow2Snapshot, readQcow2Snapshots } from "./qcow2-snapshots.js";
import { fileReader } from "./reader.js";

const MAX_CHAIN = 16;
const QCOW2_MAGIC = "QFI\xfb";

export type ImageFormat = "qcow2" | "raw";

export interface SourceOptions {
  /** Paths of backing and data files that the image may name. Default: none. */
  readonly allow?: readonly string[];
  /**
   * The format, when it is known. Default: by the magic. Give "raw" for a raw disk from a stranger:
   * its guest can have written a qcow2 header into its first sector.
   */
  readonly format?: ImageFormat;
}

/** A node of QEMU's block graph, as its QAPI schema (`BlockdevOptions`) spells it. */
export type BlockNode = { readonly [key: string]: string | number | boolean | null | BlockNode };

/** An image that passed all checks of its header and tables, ready to be handed to QEMU. */
export interface ImageSource {
  /** Absolute, without links. */
  readonly path: string;
  readonly format: ImageFormat;
  readonly identity: FileIdentity;
  readonly fileBytes: number;
  /** Size of the disk inside. */
  readonly virtualBytes: number;
  readonly header?: Qcow2Header;
  readonly extents?: Qcow2Extents;
  /** Internal snapshots of a qcow2. */
  readonly snapshots?: readonly Qcow2Snapshot[];
  /** Persistent dirty bitmaps of a qcow2. */
  readonly bitmaps?: readonly Qcow2Bitmap[];
  /**
   * The whole graph, with the backing file spelt out or null: QEMU opens nothing that is not named here,
   * whatever the image's header says.
   */
  readonly node: BlockNode;
}

/**
 * Opens an image, checks it, and describes it for QEMU.
 *
 * @throws RootfsError NO_SUCH_IMAGE, NOT_A_FILE, and those of parseQcow2Header, assertUsableQcow2 and
 *   checkQcow2Extents
 */
export async function describeImage(path: string, options: SourceOptions = {}): Promise<ImageSource> {
  const allowed = new Set<string>();
  for (const file of options.allow ?? []) allowed.add(await realpath(file).catch(() => resolve(file)));
  return await describe(path, allowed, options.format, 0);
}

async function describe(
  path: string,
  allowed: ReadonlySet<string>,
  format: ImageFormat | undefined,
  depth: number,
): Promise<ImageSource> {
  if (depth === MAX_CHAIN)
    throw new RootfsError(
      "CORRUPT",
      `the backing chain of ${path} is over ${MAX_CHAIN} files long, or a loop`,
      {
        path,
        hint: "Flatten it with `qemu-img convert -O qcow2`.",
      },
    );
  const file = await openImage(path);
  try {
    const stats = await file.stat({ bigint: true });
    const base = { path: await realpath(path), identity: identityOf(stats), fileBytes: Number(stats.size) };
    const found = format ?? (await detectFormat(file));
    const fileNode = await describeFile(base.path);
    if (found === "raw")
      return {
        ...base,
        format: "raw",
        virtualBytes: base.fileBytes,
        node: { driver: "raw", file: fileNode },
      };
    const { header, ...tables } = await checkQcow2(file, base.path, base.fileBytes, allowed.size > 0);
    const backing = await describeBacking(base.path, header, allowed, depth);
    const dataFile = await describeData(base.path, header, allowed);
    const node: BlockNode = {
      driver: "qcow2",
      file: fileNode,
      backing: backing?.node ?? null,
      ...(dataFile ? { "data-file": dataFile } : {}),
    };
    return { ...base, format: "qcow2", virtualBytes: header.virtualBytes, header, ...tables, node };
  } finally {
    await file.close();
  }
}

async function detectFormat(file: FileHandle): Promise<ImageFormat> {
  const magic = await fileReader(file)(0, 4);
  return magic.toString("latin1") === QCOW2_MAGIC ? "qcow2" : "raw";
}

async function checkQcow2(file: FileHandle, path: string, fileBytes: number, allowOtherFiles: boolean) {
  const read = fileReader(file);
  try {
    const header = parseQcow2Header(await read(0, 1 << 20));
    assertUsableQcow2(header, { fileBytes, allowOtherFiles });
    return {
      header,
      extents: await checkQcow2Extents(read, header, { fileBytes }),
      snapshots: await readQcow2Snapshots(read, header),
      bitmaps: await readQcow2Bitmaps(read, header),
    };
  } catch (error) {
    throw error instanceof RootfsError ? at(error, path) : error;
  }
}

async function describeBacking(
  image: string,
  { backingFile, backingFormat }: Qcow2Header,
  allowed: ReadonlySet<string>,
  depth: number,
): Promise<ImageSource | undefined> {
  if (backingFile === undefined) return undefined;
  const path = await allowedPath(image, backingFile, allowed, "BACKING_FILE");
  const format = backingFormat === "raw" ? "raw" : undefined;
  return await describe(path, allowed, format, depth + 1);
}

async function describeData(
  image: string,
  { dataFile }: Qcow2Header,
  allowed: ReadonlySet<string>,
): Promise<BlockNode | undefined> {
  if (dataFile === undefined) return undefined;
  const path = await allowedPath(image, dataFile, allowed, "DATA_FILE");
  return await describeFile(path);
}

/** A name from a header is relative to the image's own folder, and must be on the list, links resolved. */
async function allowedPath(
  image: string,
  name: string,
  allowed: ReadonlySet<string>,
  code: "BACKING_FILE" | "DATA_FILE",
): Promise<string> {
  const wanted = resolve(dirname(image), name);
  const path = await realpath(wanted).catch(() => wanted);
  if (name !== "" && !name.includes("\0") && allowed.has(path)) return path;
  throw new RootfsError(
    code,
    `${image} names the file ${JSON.stringify(name)}, which is not on the allowed list`,
    {
      path: image,
      hint: `Allow ${path} explicitly, or flatten the image with \`qemu-img convert -O qcow2\`.`,
      facts: { name },
    },
  );
}

/** Direct I/O where the filesystem has it: the loop above caches already, and once is enough. */
async function describeFile(path: string): Promise<BlockNode> {
  const direct = await supportsDirect(path);
  return {
    driver: "file",
    filename: path,
    "read-only": true,
    ...(direct ? { cache: { direct: true }, aio: "native" } : {}),
  };
}

async function supportsDirect(path: string): Promise<boolean> {
  try {
    await (await open(path, constants.O_RDONLY | constants.O_DIRECT)).close();
    return true;
  } catch {
    return false;
  }
}
