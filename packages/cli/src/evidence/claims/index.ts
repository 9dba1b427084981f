import type { AttemptRecords } from "../load.js";
import type { Claim } from "../records/claims.js";
import { allSteps, nothingLeft, originalUnharmed } from "./aftermath.js";
import { auditPassed, dumped, restoredTogether } from "./checkpoint.js";
import { desktopUsable, marker, token } from "./desktop.js";
import { imageVerified, rootReadOnly, xvfbLayer } from "./image.js";
import { type ClaimRule, computeClaim } from "./rule.js";
import { handshake, overlay, privateBus } from "./session.js";
import {
  ownSentence,
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
  xvfbLayer,
  handshake,
  overlay,
  privateBus,
  desktopUsable,
  token,
  marker,
  auditPassed,
  dumped,
  restoredTogether,
  siblingToken,
  siblingMarker,
  siblingProcesses,
  siblingScreen,
  siblingWindows,
  siblingBus,
  siblingMounts,
  ownSentence,
  originalUnharmed,
  nothingLeft,
  allSteps,
];

/** Computes every claim from an attempt's records, and from nothing else. */
export function computeClaims(records: AttemptRecords): Claim[] {
  return CLAIM_RULES.map((rule) => computeClaim(rule, records));
}

/** True where every claim is established. */
export function allEstablished(claims: readonly Claim[]): boolean {
  return claims.length > 0 && claims.every(({ status }) => status === "established");
}

/** True where no claim failed or was left unreached; one may be unknown, as without a sha256 to compare with. */
export function noneFailed(claims: readonly Claim[]): boolean {
  return claims.length > 0 && claims.every(({ status }) => status === "established" || status === "unknown");
}
