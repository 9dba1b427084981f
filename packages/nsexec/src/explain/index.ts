import { explainOuter } from "./outer.js";
import { explainOverlay, overlayAt, overlayFolders } from "./overlay.js";
import { realExplainSystem } from "./system.js";
import type { ExplainSystem, Explanation, StepFailure } from "./types.js";

export { explainPivotRoot, type PivotAttempt } from "./pivot.js";
export type { ExplainSystem, Explanation, PathLook, StepFailure } from "./types.js";
export { explainUserNamespaces } from "./user-namespaces.js";

/** Options of {@link explainStep}. */
export interface ExplainOptions {
  /** Default: this machine. */
  readonly system?: ExplainSystem;
}

/** Why a step of a plan failed, by name, with what to do: looked up on the machine right after the failure. */
export function explainStep(failure: StepFailure, options: ExplainOptions = {}): Explanation | undefined {
  const { system = realExplainSystem } = options;
  return explainMount(failure, system) ?? explainOuter(failure, system);
}

function explainMount(failure: StepFailure, system: ExplainSystem): Explanation | undefined {
  if (failure.step !== "mount") return undefined;
  const data = overlayAt(failure.path, failure.plan);
  if (data === undefined) return undefined;
  return explainOverlay(overlayFolders(data, failure.plan), failure.errno, system);
}
