import { extname } from "node:path";
import {
  digestImage,
  type ImageFormat,
  type ImageInspection,
  inspectImage,
  RootfsError,
  verifyImage,
} from "@drums/rootfs";
import { DrumsError, EXIT } from "../errors.js";
import { readImageRecord } from "./record.js";

/** What is asked of {@link checkImage}. */
export interface CheckImageOptions {
  /** The sha256 that the file must have. Default: that of the record beside it, where there is one. */
  readonly expected?: string | undefined;
  /** Default `qcow2` for a file named so, else by the file's first bytes. */
  readonly format?: ImageFormat | undefined;
  /** Whether the whole file is read for its sha256; default true. */
  readonly digest?: boolean;
  /** Folder of the digest cache; default none. */
  readonly cacheDir?: string | undefined;
}

/** One thing that was looked at. */
export interface ImageFinding {
  readonly name: "header" | "root partition" | "journal" | "sha256";
  readonly ok: boolean;
  readonly detail: string;
  /** Stable code of the error that refused it. */
  readonly code?: string;
  readonly hint?: string;
}

/** Whether an image can be used, and what was seen. */
export interface ImageCheck {
  readonly path: string;
  readonly ok: boolean;
  readonly findings: readonly ImageFinding[];
  /** Absent where the header was refused. */
  readonly inspection?: ImageInspection;
  readonly sha256?: string;
}

/**
 * Looks at an image file without mounting it: header (backing and data files are refused), partitions, journal,
 * sha256. What is wrong with the image is a finding; only a file that cannot be read at all is an error.
 * @throws DrumsError IMAGE_UNREADABLE, a usage fault
 */
export async function checkImage(path: string, options: CheckImageOptions = {}): Promise<ImageCheck> {
  const inspected = await inspect(path, options.format ?? formatByName(path));
  const digested = options.digest === false ? undefined : await digest(path, options);
  const findings = [...inspected.findings, ...(digested ? [digested.finding] : [])];
  return {
    path,
    ok: findings.every(({ ok }) => ok),
    findings,
    ...(inspected.inspection && { inspection: inspected.inspection }),
    ...(digested?.sha256 !== undefined && { sha256: digested.sha256 }),
  };
}

function formatByName(path: string): ImageFormat | undefined {
  return extname(path) === ".qcow2" ? "qcow2" : undefined;
}

async function inspect(
  path: string,
  format: ImageFormat | undefined,
): Promise<{ findings: ImageFinding[]; inspection?: ImageInspection }> {
  try {
    const inspection = await inspectImage(path, format === undefined ? {} : { format });
    const { virtualBytes, format: found } = inspection;
    const header: ImageFinding = {
      name: "header",
      ok: true,
      detail: `${found}, a disk of ${virtualBytes} bytes`,
    };
    return { findings: [header, rootFinding(inspection), journalFinding(inspection)], inspection };
  } catch (error) {
    return { findings: [refused("header", error)] };
  }
}

function rootFinding({ root }: ImageInspection): ImageFinding {
  if ("fault" in root) return refused("root partition", root.fault);
  const { index, start, bytes, filesystem } = root.partition;
  return {
    name: "root partition",
    ok: true,
    detail: `partition ${index} at byte ${start}, ${bytes} bytes, ${filesystem?.kind ?? "unknown filesystem"}`,
  };
}

function journalFinding({ journal }: ImageInspection): ImageFinding {
  const detail = journal === "needs recovery" ? "needs recovery: it is replayed beside the image" : journal;
  return { name: "journal", ok: true, detail };
}

async function digest(
  path: string,
  { expected, cacheDir }: CheckImageOptions,
): Promise<{ finding: ImageFinding; sha256?: string }> {
  const pinned = expected ?? (await readImageRecord(path).catch(() => undefined))?.sha256;
  const cache = cacheDir === undefined ? {} : { cacheDir };
  try {
    if (pinned === undefined) {
      const { sha256 } = await digestImage(path, cache);
      return {
        finding: { name: "sha256", ok: true, detail: `${sha256}; nothing to compare it with` },
        sha256,
      };
    }
    const { sha256 } = await verifyImage(path, { expected: pinned, ...cache });
    return { finding: { name: "sha256", ok: true, detail: `${sha256}, as pinned` }, sha256 };
  } catch (error) {
    return { finding: refused("sha256", error) };
  }
}

function refused(name: ImageFinding["name"], error: unknown): ImageFinding {
  if (!(error instanceof RootfsError)) throw error;
  const { code, message: detail, hint } = error;
  const unreadable = unreadableImage(error);
  if (unreadable !== undefined) throw unreadable;
  return { name, ok: false, detail, code, ...(hint !== undefined && { hint }) };
}

/** The fault of usage where a path is no image that can be read; undefined for every other error. */
export function unreadableImage(error: unknown): DrumsError | undefined {
  if (!(error instanceof RootfsError)) return undefined;
  const { code, message: what, hint } = error;
  if (code !== "NO_SUCH_IMAGE" && code !== "NOT_A_FILE") return undefined;
  return new DrumsError({
    code: "IMAGE_UNREADABLE",
    exitCode: EXIT.usage,
    what,
    ...(hint !== undefined && { hint }),
    cause: error,
  });
}
