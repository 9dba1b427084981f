import { mkdir, readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import {
  assertRestorable,
  type CheckpointManifest,
  inspectImages,
  readManifest,
  writeManifest,
} from "@drums/criu";
import { verifyImage } from "@drums/rootfs";
import { codeOf, DrumsError, EXIT } from "../../errors.js";
import type { Home } from "../../home.js";
import { withLock } from "../../lock.js";
import { assertRangeFree, RANGE_SIZE } from "../../session/id-range.js";
import type { SessionSpec } from "../../session/record.js";
import { layerDigests } from "../layer-digest.js";
import { sessionOf } from "../load.js";
import { toPlace, withPlaces } from "../places.js";
import { type CheckpointFolder, makeCheckpoint } from "../store.js";
import { badArchive, type EntryHeader } from "./format.js";
import { type EntryTaker, type ReadLimits, readArchive } from "./read.js";
import { type Destination, type OwnerRange, Unpacker } from "./unpack.js";
import { unpacked, zstdError } from "./zstd.js";

/** What is asked of an import. */
export interface ImportRequest {
  readonly file: string;
  /** Default: the file's name up to its first dot. */
  readonly name?: string | undefined;
  /** The image that the checkpoint stands on. Default: where it was at the export, or of that name in this home. */
  readonly image?: string | undefined;
}

/** How an import is made. */
export interface ImportOptions extends ReadLimits {
  readonly signal?: AbortSignal | undefined;
}

/** An imported checkpoint. */
export interface ImportReport {
  readonly name: string;
  readonly path: string;
  readonly image: string;
}

/** Owner of a checkpoint's own files. */
const ROOT: OwnerRange = { first: 0, count: 1 };
const MAX_MANIFEST_BYTES = 4 << 20;

/**
 * Makes a checkpoint of a file that {@link exportCheckpoint} wrote, whole or not at all. Every checksum, the digest of
 * every layer, the image's sha256, the owners of all files and the id maps of the dump are checked. The checkpoint keeps
 * its range of ids; where this machine uses that range for something else the import is refused.
 * What is checked is that the file is whole and keeps to its place: its processes are as trustworthy as who made it.
 * @throws DrumsError ARCHIVE_INVALID, CHECKPOINT_EXISTS, ID_RANGE_TAKEN, IMAGE_MISSING, NO_ZSTD;
 *   RootfsError IMAGE_DIGEST_MISMATCH; CriuError LAYER_CHANGED, MANIFEST_INVALID, IMAGE_INVALID
 */
export async function importCheckpoint(
  home: Home,
  { file, name = basename(file).split(".")[0] ?? "", image }: ImportRequest,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const path = home.entry("checkpoints", name);
  const stream = await unpacked(file);
  // What a packed stream says after the reading has ended is heard by nobody else.
  stream.on("error", () => {});
  try {
    return await makeCheckpoint(home, name, async (folder) => {
      const importing = new Importing(home, folder, { file, signal: options.signal });
      const { maxEntries, maxBytes } = options;
      const limits = { ...(maxEntries && { maxEntries }), ...(maxBytes && { maxBytes }) };
      await readArchive(stream, { file, taker: importing, ...limits });
      const found = await importing.finish(image);
      return { name, path, image: found };
    });
  } catch (error) {
    throw zstdError(error, (why) => badArchive(file, why));
  } finally {
    stream.destroy();
  }
}

/** One import: the manifest comes first and says what else may come. */
class Importing implements EntryTaker {
  readonly #home: Home;
  readonly #folder: CheckpointFolder;
  readonly #file: string;
  readonly #signal: AbortSignal | undefined;
  readonly #unpacker: Unpacker;
  #manifest: CheckpointManifest | undefined;
  #spec: SessionSpec | undefined;

  constructor(
    home: Home,
    folder: CheckpointFolder,
    { file, signal }: { readonly file: string; readonly signal: AbortSignal | undefined },
  ) {
    this.#home = home;
    this.#folder = folder;
    this.#file = file;
    this.#signal = signal;
    this.#unpacker = new Unpacker({ file, destinationOf: (path, kind) => this.#destinationOf(path, kind) });
  }

  async take(...[header, pieces]: Parameters<EntryTaker["take"]>): Promise<void> {
    this.#signal?.throwIfAborted();
    if (header.kind === "file" && header.path === MANIFEST && header.size > MAX_MANIFEST_BYTES)
      throw badArchive(this.#file, `a manifest of ${header.size} bytes`);
    await this.#unpacker.take(header, pieces);
    if (header.path === MANIFEST) await this.#begin();
  }

  /** Checks what came, and writes the manifest as it is true here. Returns the path of the image. */
  async finish(image: string | undefined): Promise<string> {
    const { manifest, spec } = this.#begun();
    await this.#unpacker.finish();
    await this.#assertImages(manifest);
    await this.#assertIdMaps(spec);
    const placed = { ...spec, layers: spec.layers.map((layer, at) => ({ ...layer, path: this.#layer(at) })) };
    assertRestorable(manifest, {
      criu: manifest.criu,
      externals: manifest.externals,
      layers: await layerDigests(placed),
    });
    const found = await findImage(this.#home, spec.image, image);
    await this.#rewrite(manifest, { ...placed, image: { ...spec.image, path: found } });
    return found;
  }

  async #begin(): Promise<void> {
    const { path, layers } = this.#folder;
    const manifest = await readManifest(path);
    const { spec } = sessionOf(manifest, { home: this.#home, folder: this.#folder });
    this.#assertProfile(spec);
    const { idBase } = spec;
    if (idBase !== undefined)
      await withLock(this.#home, "id-ranges", () =>
        assertRangeFree(this.#home, idBase, { except: basename(path), family: uppersOf(spec) }),
      );
    await mkdir(layers, { mode: 0o700 });
    this.#manifest = manifest;
    this.#spec = spec;
  }

  #begun(): { manifest: CheckpointManifest; spec: SessionSpec } {
    if (this.#manifest === undefined || this.#spec === undefined)
      throw badArchive(this.#file, "it holds no manifest");
    return { manifest: this.#manifest, spec: this.#spec };
  }

  /** The first layer of a checkpoint is the session's upper; a hardened one is owned by its range of ids. */
  #assertProfile({ profile, idBase, layers }: SessionSpec): void {
    if (layers[0]?.kind !== "upper") throw badArchive(this.#file, "its first layer is no upper");
    if ((profile === "hardened") !== (idBase !== undefined))
      throw badArchive(
        this.#file,
        `a ${profile} session with${idBase === undefined ? "out" : ""} a range of ids`,
      );
  }

  #destinationOf(path: string, kind: EntryHeader["kind"]): Destination | undefined {
    if (path === MANIFEST) return kind === "file" ? this.#own(MANIFEST) : undefined;
    const [top = "", ...below] = path.split("/");
    const { spec } = this.#begun();
    if (top === "images" || top === "dump")
      return below.length === (kind === "folder" ? 0 : 1) && (kind === "file" || kind === "folder")
        ? this.#own(path)
        : undefined;
    const index = Number(/^layer-(0|[1-9]\d?)$/.exec(top)?.[1] ?? Number.NaN);
    const layer = spec.layers[index];
    if (layer === undefined || (below.length === 0 && kind !== "folder")) return undefined;
    const host = Buffer.from([this.#layer(index), ...below].join("/"), "latin1");
    return { host, owners: ownersOf(layer.kind === "upper" ? spec.idBase : undefined) };
  }

  #own(path: string): Destination {
    return { host: Buffer.from(join(this.#folder.path, path), "latin1"), owners: ROOT };
  }

  #layer(index: number): string {
    return index === 0 ? this.#folder.upper : join(this.#folder.layers, String(index));
  }

  async #assertImages({ images }: CheckpointManifest): Promise<void> {
    const names = (await readdir(this.#folder.images).catch(() => [])).sort();
    const sizes = await Promise.all(
      names.map(async (name) => ({ name, bytes: (await stat(join(this.#folder.images, name))).size })),
    );
    const wanted = images.map(({ name, bytes }) => `${name} ${bytes}`).sort();
    if (sizes.map(({ name, bytes }) => `${name} ${bytes}`).join("\n") !== wanted.join("\n"))
      throw badArchive(this.#file, "its images are not those of its manifest");
  }

  /** A restore gives the processes the ids that the images say: they must be those of the range. */
  async #assertIdMaps({ idBase }: SessionSpec): Promise<void> {
    const { idMaps } = await inspectImages(this.#folder.images);
    const expected = idBase === undefined ? undefined : [{ inside: 0, outside: idBase, count: RANGE_SIZE }];
    for (const found of [idMaps?.uids, idMaps?.gids])
      if (JSON.stringify(found) !== JSON.stringify(expected))
        throw badArchive(this.#file, "its processes have other ids than its manifest says");
  }

  async #rewrite(manifest: CheckpointManifest, spec: SessionSpec): Promise<void> {
    const place = (path: string) => toPlace(path, { home: this.#home, folder: this.#folder });
    await writeManifest(this.#folder.path, {
      ...manifest,
      layers: spec.layers.map(({ path, digest }) => ({ name: place(path), digest })),
      session: { ...manifest.session, ...withPlaces(spec, place) },
    });
  }
}

const MANIFEST = "checkpoint.json";

function ownersOf(idBase: number | undefined): OwnerRange {
  return { first: idBase ?? 0, count: RANGE_SIZE };
}

function uppersOf({ layers }: SessionSpec): string[] {
  return layers.filter(({ kind }) => kind === "upper").map(({ digest }) => digest);
}

/** The image file, by its sha256. Throws DrumsError IMAGE_MISSING. */
async function findImage(
  home: Home,
  { path, sha256 }: SessionSpec["image"],
  given: string | undefined,
): Promise<string> {
  const places = given === undefined ? [path, join(home.images, basename(path))] : [resolve(given)];
  for (const place of places) {
    try {
      await verifyImage(place, { cacheDir: home.cache, expected: sha256 });
      return place;
    } catch (error) {
      if (codeOf(error) !== "NO_SUCH_IMAGE") throw error;
    }
  }
  throw new DrumsError({
    code: "IMAGE_MISSING",
    exitCode: EXIT.usage,
    what: "the image that the checkpoint stands on is not here",
    where: places.join(", "),
    why: "an archive holds the layers but not the image below them",
    hint: `name the image whose sha256 is ${sha256} by --image`,
  });
}
