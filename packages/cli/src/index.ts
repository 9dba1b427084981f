/**
 * drums as a library: what the commands call. Sessions from images, checkpoints, siblings, evidence and claims.
 *
 * @packageDocumentation
 */
export {
  assertFits,
  type Capacity,
  capacityOf,
  type ResourceCapacity,
  type SiblingNeeds,
  siblingNeeds,
} from "./capacity/index.js";
export {
  type CheckpointOptions,
  type CheckpointReport,
  type ClosedConnection,
  createCheckpoint,
} from "./checkpoint/create.js";
export { type CheckpointInspection, inspectCheckpoint } from "./checkpoint/inspect.js";
export { type CheckpointSummary, summariseCheckpoints } from "./checkpoint/list.js";
export { type LoadedCheckpoint, loadCheckpoint } from "./checkpoint/load.js";
export {
  type CheckpointUsers,
  checkpointUsers,
  collectDeleted,
  type RemovedCheckpoint,
  removeCheckpoint,
} from "./checkpoint/remove.js";
export {
  type CheckpointFolder,
  checkpointFolder,
  collectUnfinished,
  listCheckpoints,
} from "./checkpoint/store.js";
export { type CriuChoice, criuFor, criuForCheckpoint } from "./criu.js";
export { DrumsError, type DrumsErrorFacts, EXIT, type ExitCode } from "./errors.js";
export { type Outcome, sealAttempt } from "./evidence/seal.js";
export { verifyEvidence } from "./evidence/verify.js";
export { type Attempt, type EvidenceRun, openEvidence, type RunFacts } from "./evidence/writer.js";
export { type Forked, type ForkOptions, type ForkRequest, forkCheckpoint } from "./fork/fork.js";
export { type RestoreSiblingOptions, restoreSibling, type Sibling } from "./fork/sibling.js";
export { forkTuned, type Settled, type TunedFork, type TunedForkOptions } from "./fork/tuned.js";
export type { UsableSibling } from "./fork/usable.js";
export { createHome, DEFAULT_HOME, findHome, type Home, homeAt } from "./home.js";
export { auditImage, buildImage, type ImageAudit } from "./image/index.js";
export { type InitLayer, initLayer } from "./layers/init.js";
export { type XServerLayer, type XServerLayerOptions, xServerLayer } from "./layers/x-server.js";
export {
  type FillOptions,
  fillPools,
  poolSize,
  removePool,
  setPoolSize,
  type Taken,
  type TakeOptions,
  takeWarm,
  warmSiblings,
} from "./pool/index.js";
export { type PoolSummary, summarisePools } from "./pool/summary.js";
export { type AreaItem, collectPreflight } from "./preflight/index.js";
export { openApplication } from "./probe/application.js";
export type { ProbeOutcome } from "./probe/close.js";
export { type ProbeOptions, type ProbeRequest, runProbe } from "./probe/run.js";
export { runProgram } from "./program.js";
export * from "./recipes/index.js";
export type { BootObserver, Handshake, Step } from "./session/boot/steps.js";
export type { IdentityOptions, OnFork } from "./session/clone-identity.js";
export { type Collected, collectGarbage, type SessionStanding, standingOf } from "./session/gc.js";
export { listSessions, type SessionSummary } from "./session/list.js";
export { type SessionMemory, sessionMemory } from "./session/memory.js";
export { type LiveSession, openSession } from "./session/open.js";
export type { SessionRecord, SessionSpec } from "./session/record.js";
export { removeSession } from "./session/remove.js";
export { findResidue, isClean, type Residue } from "./session/residue.js";
export { findSession, type SessionFolder } from "./session/store.js";
export { type UpOptions, type UpRequest, type UpResult, upSession } from "./session/up.js";
export { collectTuning, type TuningKind, untilMerged, withHostTuning } from "./tuning/index.js";
export { VERSION } from "./version.js";
