import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { codeOf, DrumsError, EXIT, messageOf } from "../errors.js";
import { readJsonFile } from "../home.js";
import { VERSION } from "../version.js";
import { allEstablished, noneFailed } from "./claims/index.js";
import { EVENTS } from "./events.js";
import { listContent, MANIFEST, parseManifest, sumFiles } from "./manifest.js";
import { attemptNumber } from "./names.js";
import { type Claim, claimsRecord, type ParityGap } from "./records/claims.js";
import { computeOutcome, type Outcome } from "./seal.js";

/** Gaps are looked for up to here: a folder's name is not ours alone to choose. */
const MAX_ATTEMPTS = 9999;

/** What became of a file since its sum was written. */
export interface FileFault {
  readonly path: string;
  /** `unlisted` files came after the manifest; `not a file`: a link, socket or device. */
  readonly fault: "missing" | "changed" | "unlisted" | "not a file";
}

/** A claim or parity row that the records give now, and what claims.json says. */
export interface Difference {
  readonly id: string;
  readonly recorded: string;
  readonly computed: string;
}

/** One attempt, verified. */
export interface AttemptReport {
  readonly path: string;
  readonly attempt: number | undefined;
  /** Why the manifest itself is not to be trusted; empty where it is well-formed. */
  readonly manifestFaults: readonly string[];
  readonly fileFaults: readonly FileFault[];
  /** Where claims.json does not say what the records say. */
  readonly differences: readonly Difference[];
  readonly claims: readonly Claim[];
  readonly parity: readonly ParityGap[];
  /** The records are the ones that were written, and say what claims.json says. */
  readonly intact: boolean;
  /** Every claim is established by the records. */
  readonly established: boolean;
}

/** A run's evidence, verified. */
export interface EvidenceReport {
  readonly path: string;
  readonly attempts: readonly AttemptReport[];
  /** Numbers below the highest of which there is no folder: attempts are never left out, so they were removed. */
  readonly missingAttempts: readonly number[];
  /**
   * Every attempt is there and intact, and none of the last one's claims failed or was left unreached. Earlier
   * failures stay and are shown.
   */
  readonly ok: boolean;
}

/**
 * Verifies a run's folder, or one attempt's: the sums of its files, and every claim again from the records alone.
 * @throws DrumsError NOT_EVIDENCE for a folder that holds neither
 */
export async function verifyEvidence(dir: string): Promise<EvidenceReport> {
  const path = resolve(dir);
  const folders = await attemptFolders(path);
  const attempts: AttemptReport[] = [];
  for (const folder of folders) attempts.push(await verifyAttempt(folder));
  const missingAttempts = folders.includes(path) ? [] : gaps(attempts.map(({ attempt = 0 }) => attempt));
  const isWhole = missingAttempts.length === 0 && attempts.every(({ intact }) => intact);
  return { path, attempts, missingAttempts, ok: isWhole && noneFailed(attempts.at(-1)?.claims ?? []) };
}

function gaps(numbers: readonly number[]): number[] {
  const upTo = Array.from({ length: Math.min(Math.max(...numbers), MAX_ATTEMPTS) }, (_, index) => index + 1);
  return upTo.filter((number) => !numbers.includes(number));
}

async function attemptFolders(path: string): Promise<string[]> {
  const names = await readdir(path).catch((cause: unknown) => {
    throw notEvidence(path, messageOf(cause), cause);
  });
  if (names.includes(EVENTS) || names.includes(MANIFEST)) return [path];
  const attempts = await readdir(join(path, "attempts")).catch(() => []);
  const numbered = attempts
    .filter((name) => attemptNumber(name) !== undefined)
    .sort((a, b) => Number(a) - Number(b));
  if (numbered.length > 0) return numbered.map((name) => join(path, "attempts", name));
  throw notEvidence(path, "it holds no attempts/001 and is no attempt itself");
}

async function verifyAttempt(path: string): Promise<AttemptReport> {
  const { manifestFaults, fileFaults } = await verifyFiles(path);
  const outcome = await computeOutcome(path);
  const differences = await compareWithRecorded(path, outcome);
  return {
    path,
    attempt: attemptNumber(basename(path)),
    manifestFaults,
    fileFaults,
    differences,
    ...outcome,
    intact: manifestFaults.length + fileFaults.length + differences.length === 0,
    established: allEstablished(outcome.claims),
  };
}

async function verifyFiles(path: string): Promise<Pick<AttemptReport, "manifestFaults" | "fileFaults">> {
  const { files, others } = await listContent(path);
  const read = await readManifest(path);
  if (typeof read === "string") return { manifestFaults: [read], fileFaults: [] };
  const listed = new Map(read.entries.map((entry) => [entry.path, entry.sha256]));
  const sums = await sumFiles(path, files);
  const fileFaults: FileFault[] = [
    ...[...listed.keys()].filter((name) => !files.includes(name)).map(fault("missing")),
    ...sums
      .filter((sum) => listed.has(sum.path) && listed.get(sum.path) !== sum.sha256)
      .map((sum) => fault("changed")(sum.path)),
    ...files.filter((name) => !listed.has(name)).map(fault("unlisted")),
    ...others.map(fault("not a file")),
  ];
  return { manifestFaults: read.faults.map((text) => `${MANIFEST}: ${text}`), fileFaults };
}

async function readManifest(path: string): Promise<ReturnType<typeof parseManifest> | string> {
  try {
    return parseManifest(await readFile(join(path, MANIFEST), "utf8"));
  } catch (error) {
    if (codeOf(error) !== "ENOENT") return messageOf(error);
    return `${MANIFEST} is missing: the attempt was never sealed (killed, or still running), or it was removed`;
  }
}

function fault(kind: FileFault["fault"]): (path: string) => FileFault {
  return (path) => ({ path, fault: kind });
}

async function compareWithRecorded(path: string, { claims, parity }: Outcome): Promise<Difference[]> {
  const recorded = await readJsonFile(join(path, "claims.json"), claimsRecord).catch(messageOf);
  if (typeof recorded === "string")
    return [{ id: "claims.json", recorded, computed: `${claims.length} claims` }];
  // Another version may word its reasons otherwise; what it may not do is come to another status.
  const isSameVersion = recorded.drums === VERSION;
  const ofClaim = ({ status, reasons }: Claim) => (isSameVersion ? [status, ...reasons].join("; ") : status);
  const ofGap = ({ status, image, session }: ParityGap) =>
    isSameVersion ? `${status}: ${image} / ${session}` : status;
  return [
    ...compare(
      words(recorded.claims, (claim) => claim.id, ofClaim),
      words(claims, (claim) => claim.id, ofClaim),
    ),
    ...compare(words(recorded.parity, parityId, ofGap), words(parity, parityId, ofGap)),
  ];
}

function parityId({ topic }: ParityGap): string {
  return `parity: ${topic}`;
}

function words<T>(list: readonly T[], id: (one: T) => string, text: (one: T) => string): Map<string, string> {
  return new Map(list.map((one) => [id(one), text(one)]));
}

function compare(recorded: ReadonlyMap<string, string>, computed: ReadonlyMap<string, string>): Difference[] {
  return [...new Set([...recorded.keys(), ...computed.keys()])]
    .map((id) => ({ id, recorded: recorded.get(id) ?? "absent", computed: computed.get(id) ?? "absent" }))
    .filter((difference) => difference.recorded !== difference.computed);
}

function notEvidence(path: string, why: string, cause?: unknown): DrumsError {
  return new DrumsError({
    code: "NOT_EVIDENCE",
    exitCode: EXIT.usage,
    what: "this is no evidence of a run",
    where: path,
    why,
    hint: "name the folder that `drums probe` printed after `evidence:`, or one of its attempts",
    cause,
  });
}
