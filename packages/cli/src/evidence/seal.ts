import { VERSION } from "../version.js";
import { computeClaims } from "./claims/index.js";
import { loadRecords } from "./load.js";
import { computeParity } from "./parity.js";
import type { Claim, ParityGap } from "./records/claims.js";
import type { Attempt } from "./writer.js";

/** What an attempt came to. */
export interface Outcome {
  readonly claims: readonly Claim[];
  readonly parity: readonly ParityGap[];
}

/**
 * Ends an attempt, however it went: computes claims and parity gaps from the records as they lie on disk, writes
 * claims.json, then the manifest. Call it after the last step.
 */
export async function sealAttempt(attempt: Attempt): Promise<Outcome> {
  const outcome = await computeOutcome(attempt.path);
  await attempt.record("claims.json", {
    drums: VERSION,
    claims: [...outcome.claims],
    parity: [...outcome.parity],
  });
  await attempt.close();
  return outcome;
}

/** Computes claims and parity gaps from an attempt's folder, without writing. */
export async function computeOutcome(folder: string): Promise<Outcome> {
  const records = await loadRecords(folder);
  return { claims: computeClaims(records), parity: computeParity(records) };
}
