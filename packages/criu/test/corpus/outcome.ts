import type { Audit } from "../../src/index.js";

/** What became of a case. */
export interface Outcome {
  readonly kind: "held" | "lost" | "dump refused" | "restore refused" | "unavailable";
  /** What is lost, or the rule or line that explains the refusal, or why the object cannot be made here. */
  readonly detail?: string;
}

/** A case's audit and what CRIU then did. */
export interface Seen {
  /** Absent where the object could not be made. */
  readonly audit: Audit | undefined;
  readonly outcome: Outcome;
}

/** What an audit foretells of a case. */
export type Prediction = "holds" | "loses" | "refuses" | "may refuse";

/** The gravest of the findings; what is slow or isolates badly holds. */
export function predictionOf({ findings }: Pick<Audit, "findings">): Prediction {
  const severities = new Set(findings.map(({ severity }) => severity));
  if (severities.has("refuses")) return "refuses";
  if (severities.has("may-refuse")) return "may refuse";
  return severities.has("loses") ? "loses" : "holds";
}

/** Whether what came is what was foretold: no false pass, and no refusal of what passes. */
export function agrees(prediction: Prediction, { kind }: Outcome): boolean {
  if (kind === "unavailable") return true;
  const refused = kind === "dump refused" || kind === "restore refused";
  if (prediction === "refuses") return refused;
  if (prediction === "may refuse") return refused || kind === "held";
  return prediction === "loses" ? kind === "lost" : kind === "held";
}
