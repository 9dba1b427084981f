import { constants } from "node:fs";
import { chmod, chown, lchown, link, lutimes, mkdir, open, symlink } from "node:fs/promises";
import { sys } from "@drums/nsexec";
import { codeOf } from "../../errors.js";
import { badArchive, bytesOf, type EntryHeader } from "./format.js";
import type { EntryTaker, Piece } from "./read.js";

/** Host ids that files of a layer may belong to. */
export interface OwnerRange {
  readonly first: number;
  readonly count: number;
}

/** Where an entry goes. */
export interface Destination {
  readonly host: Buffer;
  readonly owners: OwnerRange;
}

/** Extended attributes that an import sets: overlayfs's own that say nothing of other files, capabilities, ACLs, users'. */
const XATTRS =
  /^(?:trusted\.overlay\.(?:opaque|origin|impure|nlink|uuid|whiteouts|redirect)|security\.capability|system\.posix_acl_(?:access|default)|user\..+)$/;

const NODE_TYPES = {
  whiteout: constants.S_IFCHR,
  fifo: constants.S_IFIFO,
  socket: constants.S_IFSOCK,
} as const;

/** Options of {@link Unpacker}. */
export interface UnpackOptions {
  /** Named in errors. */
  readonly file: string;
  /** Where a path goes; undefined refuses it. */
  readonly destinationOf: (path: string, kind: EntryHeader["kind"]) => Destination | undefined;
}

type Attributes = Exclude<EntryHeader, { kind: "link" }>;

/**
 * Makes an archive's entries. It trusts none: an entry's folder must have come before it as a folder, so that no link is
 * ever walked through; nothing that exists is written to; owners stay in their range; devices are whiteouts alone.
 */
export class Unpacker implements EntryTaker {
  readonly #options: UnpackOptions;
  readonly #folders: Attributes[] = [];
  readonly #madeFolders = new Set<string>([""]);
  readonly #madeFiles = new Set<string>();

  constructor(options: UnpackOptions) {
    this.#options = options;
  }

  async take(header: EntryHeader, pieces: AsyncGenerator<Piece>): Promise<void> {
    const { host, owners } = this.#placeFor(header);
    if (header.kind === "link") return this.#linkTo(header, host);
    if (!isWithin(header.uid, owners) || !isWithin(header.gid, owners))
      throw this.#bad(`${header.path} belongs to ids outside of its range`);
    await this.#make(header, host, pieces).catch((cause: unknown) => {
      throw codeOf(cause) === "EEXIST" ? this.#bad(`${header.path} comes twice`, cause) : cause;
    });
    await setOwner(header, host);
    this.#setXattrs(header, host);
    if (header.kind === "folder") this.#folders.push(header);
    else await setTime(header, host);
  }

  /** Sets the times of folders, which their content has changed. */
  async finish(): Promise<void> {
    for (const header of this.#folders.reverse()) await setTime(header, this.#placeFor(header).host);
  }

  #placeFor(header: EntryHeader): Destination {
    const { path, kind } = header;
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (!this.#madeFolders.has(parent)) throw this.#bad(`the folder of ${path} has not come before it`);
    const place = this.#options.destinationOf(path, kind);
    if (place === undefined) throw this.#bad(`${path} has no place in a checkpoint`);
    return place;
  }

  async #make(header: Attributes, host: Buffer, pieces: AsyncGenerator<Piece>): Promise<void> {
    if (header.kind === "folder") {
      await mkdir(host, { mode: 0o700 });
      this.#madeFolders.add(header.path);
    } else if (header.kind === "file") {
      await writeFile(host, header.size, pieces);
      this.#madeFiles.add(header.path);
    } else if (header.kind === "symlink") await symlink(bytesOf(header.target), host);
    else sys.mknod(this.#textOf(header, host), NODE_TYPES[header.kind] | 0o600);
  }

  /** The system call wrappers take text. */
  #textOf({ path }: Attributes, host: Buffer): string {
    const text = host.toString("utf8");
    if (Buffer.from(text).equals(host)) return text;
    throw this.#bad(`${path} is a special file, or has attributes, and its name is no UTF-8`);
  }

  async #linkTo({ path, to }: EntryHeader & { kind: "link" }, host: Buffer): Promise<void> {
    if (!this.#madeFiles.has(to))
      throw this.#bad(`${path} is to be a link to a file that has not come before it`);
    await link(this.#placeFor({ kind: "link", path: to, to }).host, host);
  }

  #setXattrs(header: Attributes, host: Buffer): void {
    for (const [name, value] of Object.entries(header.xattrs)) {
      if (!XATTRS.test(name))
        throw this.#bad(`${header.path} has the attribute ${name}, which no import sets`);
      sys.lsetxattr(this.#textOf(header, host), name, Buffer.from(value, "base64"));
    }
  }

  #bad(why: string, cause?: unknown): Error {
    return badArchive(this.#options.file, why, cause);
  }
}

function isWithin(id: number, { first, count }: OwnerRange): boolean {
  return id >= first && id < first + count;
}

async function writeFile(host: Buffer, size: number, pieces: AsyncGenerator<Piece>): Promise<void> {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  const file = await open(host, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    for await (const { offset, bytes } of pieces) {
      for (let done = 0; done < bytes.length; )
        done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
    }
    await file.truncate(size);
  } finally {
    await file.close();
  }
}

/** The owner first: chown(2) takes set-user-id and capabilities away. */
async function setOwner(header: Attributes, host: Buffer): Promise<void> {
  if (header.kind === "symlink") return lchown(host, header.uid, header.gid);
  await chown(host, header.uid, header.gid);
  await chmod(host, header.mode);
}

async function setTime({ mtimeMs }: Attributes, host: Buffer): Promise<void> {
  await lutimes(host, mtimeMs / 1000, mtimeMs / 1000);
}
