import { type AttemptRecords, RecordAbsent } from "../load.js";
import type { Claim } from "../records/claims.js";
import { allSteps, nothingLeft, originalUnharmed } from "./aftermath.js";
import { application, documents, locksHeld, overviewLeft } from "./application.js";
import { auditPassed, dumped, restoredTogether } from "./checkpoint.js";
import { siblingIdentity } from "./clone-identity.js";
import { desktopUsable, marker, token } from "./desktop.js";
import { secondGeneration, twoSessions } from "./generations.js";
import { imageVerified, rootReadOnly, xServerLayer } from "./image.js";
import { type ClaimRule, computeClaim } from "./rule.js";
import { handshake, overlay, privateBus } from "./session.js";
import {
  ownSentence,
  siblingApplication,
  siblingBus,
  siblingMarker,
  siblingMounts,
  siblingProcesses,
  siblingScreen,
  siblingToken,
  siblingWindows,
} from "./siblings.js";

/** Every claim that a probe can establish, in the order of its course. */
export const CLAIM_RULES: readonly ClaimRule[] = [
  imageVerified,
  rootReadOnly,
  xServerLayer,
  handshake,
  overlay,
  privateBus,
  desktopUsable,
  twoSessions,
  application,
  overviewLeft,
  token,
  marker,
  auditPassed,
  dumped,
  restoredTogether,
  siblingToken,
  siblingIdentity,
  siblingMarker,
  siblingProcesses,
  siblingScreen,
  siblingWindows,
  siblingApplication,
  locksHeld,
  siblingBus,
  siblingMounts,
  ownSentence,
  documents,
  secondGeneration,
  originalUnharmed,
  nothingLeft,
  allSteps,
];

/** Computes every claim that a run of its kind can make, from an attempt's records and from nothing else. */
export function computeClaims(records: AttemptRecords): Claim[] {
  const run = runOf(records);
  return CLAIM_RULES.filter(({ applies }) => run === undefined || (applies?.(run) ?? true)).map((rule) =>
    computeClaim(rule, records),
  );
}

/** Undefined where it cannot be read: then no claim is left out. */
function runOf(records: AttemptRecords) {
  try {
    return records.get("run.json");
  } catch (error) {
    if (error instanceof RecordAbsent) return undefined;
    throw error;
  }
}

/** True where every claim is established. */
export function allEstablished(claims: readonly Claim[]): boolean {
  return claims.length > 0 && claims.every(({ status }) => status === "established");
}

/** True where no claim failed or was left unreached; one may be unknown, as without a sha256 to compare with. */
export function noneFailed(claims: readonly Claim[]): boolean {
  return claims.length > 0 && claims.every(({ status }) => status === "established" || status === "unknown");
}
