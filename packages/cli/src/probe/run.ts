import type { Criu } from "@drums/criu";
import type { StepEvent } from "../evidence/events.js";
import type { RunFacts } from "../evidence/writer.js";
import { openEvidence } from "../evidence/writer.js";
import type { Home } from "../home.js";
import { findApplication, findDesktop } from "../recipes/index.js";
import type { ScreenRequest } from "../recipes/types.js";
import type { LimitRequest } from "../session/limits.js";
import { VERSION } from "../version.js";
import { closeAttempt, type ProbeOutcome } from "./close.js";
import { Course } from "./course.js";

/** What is asked of a probe. */
export interface ProbeRequest extends LimitRequest, ScreenRequest {
  readonly image: string;
  readonly expectedSha256: string | undefined;
  readonly desktop: string;
  /** What is typed into; default the first of the desktop's applications. */
  readonly application?: string | undefined;
  readonly siblings: number;
  readonly profile: "hardened" | "compat";
  /** The evidence folder of the run. */
  readonly out: string;
}

/** What a probe works with. */
export interface ProbeOptions {
  readonly criu: () => Promise<Criu>;
  readonly onStep?: (event: StepEvent) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The whole run with evidence: image to root to session to checkpoint to siblings to claims. A failure on the way ends
 * the course, not the evidence: all is taken down, and the attempt is closed with what was reached.
 */
export async function runProbe(
  home: Home,
  request: ProbeRequest,
  { criu, onStep = () => {}, signal }: ProbeOptions,
): Promise<ProbeOutcome> {
  const { image, expectedSha256 = null, siblings, profile } = request;
  const desktop = findDesktop(request.desktop, request);
  const application = findApplication(desktop, request.application);
  const facts: RunFacts = {
    drums: VERSION,
    image,
    expectedSha256,
    desktop: desktop.name,
    rules: desktop.rules,
    task: application.task,
    siblings,
    profile,
  };
  const run = await openEvidence(request.out, facts, { onStep });
  const attempt = await run.beginAttempt();
  const course = new Course(home, { ...request, desktop, application }, attempt, { criu, signal });
  const failure = await failureOf(() => course.run());
  const unclean = await failureOf(() => course.takeDown());
  return closeAttempt(attempt, {
    siblings,
    failures: [failure, unclean].filter((error) => error !== undefined),
  });
}

async function failureOf(work: () => Promise<void>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  }
}
