import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AuditFinding,
  auditDesktop,
  auditLayerLinks,
  auditLibraries,
  auditMergedUsr,
  auditPrivileged,
  auditSessions,
  type DesktopAudit,
  type DesktopSession,
  digestImage,
  findMissingDependencies,
  type ImageFormat,
  type LibraryAudit,
  type MissingDependency,
  type MountedRoot,
  mountRoot,
  type PrivilegedFile,
  type RootFacts,
  RootfsError,
  unpackDebLayer,
} from "@drums/rootfs";
import { processHolder } from "../holder.js";
import { createHome, type Home } from "../home.js";
import type { RunStep } from "./build.js";
import { unreadableImage } from "./check.js";

/** What is asked of {@link auditImage}. */
export interface AuditImageOptions {
  /** Where the root is mounted meanwhile. */
  readonly home: Home;
  /** The user that the desktop runs as. Default 1000. */
  readonly uid?: number;
  /** Programs whose libraries are followed beside those of the desktops that are known; absolute, inside the root. */
  readonly programs?: readonly string[];
  /** Packages of a layer to be: what they depend on and neither the root nor they hold is named. */
  readonly debs?: readonly string[];
  /** Default: by the file's first bytes. */
  readonly format?: ImageFormat;
  /** Ends the audit between two of its steps. */
  readonly signal?: AbortSignal;
  /** Told of each step. Default: nobody is. */
  readonly step?: RunStep;
}

/** What a root has, what a desktop in it lacks, and what in it gives rights. */
export interface ImageAudit extends Omit<DesktopAudit, "ok"> {
  readonly path: string;
  /** No finding is a problem. */
  readonly ok: boolean;
  readonly mount: Pick<RootFacts, "way" | "passedOver" | "partition" | "journalReplayed">;
  readonly sessions: readonly DesktopSession[];
  /** By program: what the root's own loader would load. A program that is none of ELF's is a finding instead. */
  readonly libraries: readonly LibraryAudit[];
  readonly privileged: readonly PrivilegedFile[];
  readonly missingDependencies: readonly MissingDependency[];
}

/** Scripts on PATH that start a program of another place, by name; those of it that are there are looked at. */
const BEHIND: Readonly<Record<string, readonly string[]>> = {
  soffice: ["/usr/lib/libreoffice/program/soffice.bin", "/opt/libreoffice/program/soffice.bin"],
  chromium: ["/usr/lib/chromium/chromium"],
  "google-chrome": ["/opt/google/chrome/chrome"],
  firefox: ["/usr/lib/firefox/firefox", "/usr/lib/firefox-esr/firefox-esr"],
};

/**
 * Mounts an image's root read-only, runs every audit of it, and gives the mount up again. Nothing of the root is run.
 * Should this process be killed meanwhile, `collectGarbage` takes the mount down.
 *
 * @throws DrumsError IMAGE_UNREADABLE, a usage fault; RootfsError of the mount, DEB_UNREADABLE, DEB_UNSAFE
 */
export async function auditImage(path: string, options: AuditImageOptions): Promise<ImageAudit> {
  const { home, format, step = (_name, body) => body(), signal } = options;
  await createHome(home);
  const holder = await processHolder();
  const root = await step("mounting the root", () =>
    mountRoot({ image: path, stateDir: home.path, holder, ...(format && { format }) }),
  ).catch((error: unknown) => {
    throw unreadableImage(error) ?? error;
  });
  try {
    signal?.throwIfAborted();
    return await auditRoot(path, root, { ...options, step });
  } finally {
    await root.release();
  }
}

async function auditRoot(
  path: string,
  root: MountedRoot,
  { uid = 1000, programs = [], debs = [], step, signal }: AuditImageOptions & { readonly step: RunStep },
): Promise<ImageAudit> {
  const next = async <T>(name: string, body: () => Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    return await step(name, body);
  };
  const desktop = await next("what a desktop needs", () => auditDesktop(root.path, { uid }));
  const merged = await auditMergedUsr(root.path);
  const sessions = await auditSessions(root.path);
  const followed = await next("libraries", () =>
    followLibraries(root.path, [...programsOf(desktop), ...programs]),
  );
  const missingDependencies = await findMissingDependencies({ debs, root: root.path });
  const replaced = await replacedLinks(root.path, debs);
  const privileged = await next("files that give rights", () => auditPrivileged(root.path));
  const findings = [
    ...desktop.findings,
    ...merged,
    ...sessions.flatMap(sessionFinding),
    ...followed.findings,
    ...missingDependencies.map(dependencyFinding),
    ...replaced,
  ];
  const { way, passedOver, partition, journalReplayed } = root;
  return {
    ...desktop,
    path,
    ok: findings.every(({ status }) => status !== "problem"),
    mount: { way, passedOver, ...(partition && { partition }), journalReplayed },
    findings,
    sessions,
    libraries: followed.audits,
    privileged,
    missingDependencies,
  };
}

function programsOf({ programs }: DesktopAudit): string[] {
  return Object.entries(programs).flatMap(([name, path]) => BEHIND[name] ?? [path]);
}

async function followLibraries(
  root: string,
  programs: readonly string[],
): Promise<{ audits: LibraryAudit[]; findings: AuditFinding[] }> {
  const audits: LibraryAudit[] = [];
  const findings: AuditFinding[] = [];
  const optional = new Set(Object.values(BEHIND).flat());
  for (const program of new Set(programs)) {
    try {
      const audit = await auditLibraries(root, { program });
      audits.push(audit);
      findings.push(...audit.findings);
    } catch (error) {
      if (!(error instanceof RootfsError)) throw error;
      if (error.code === "NO_SUCH_PROGRAM" && optional.has(program)) continue;
      findings.push(refusedFinding(program, error));
    }
  }
  return { audits, findings };
}

/** Only notes: a layer that is made for this root has no such folder, its files go where the link leads. */
async function replacedLinks(root: string, debs: readonly string[]): Promise<AuditFinding[]> {
  if (debs.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), "drums-audit-"));
  try {
    const target = join(folder, "layer");
    const pinned = debs.map(async (path) => ({ path, sha256: (await digestImage(path)).sha256 }));
    await unpackDebLayer({ debs: await Promise.all(pinned), target });
    const findings = await auditLayerLinks(root, target);
    return findings.map(({ name, path, detail }) => ({ name, status: "note", path, detail }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function refusedFinding(path: string, { message, hint }: RootfsError): AuditFinding {
  return { name: "library", status: "problem", path, detail: message, ...(hint && { remedy: hint }) };
}

/** Only a note: a root often offers sessions for packages that it does not hold, and another one is started. */
function sessionFinding({ id, path, missing }: DesktopSession): AuditFinding[] {
  if (missing.length === 0) return [];
  return [{ name: "session", status: "note", path, detail: `${id} lacks ${missing.join(", ")}` }];
}

function dependencyFinding({ package: name, dependency, found }: MissingDependency): AuditFinding {
  return {
    name: "dependency",
    status: "problem",
    path: "/var/lib/dpkg/status",
    detail: `${name} depends on ${dependency}${found === undefined ? "" : `; there is ${found}`}`,
    remedy: "Add the package that meets it to the layer.",
  };
}
