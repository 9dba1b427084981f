/**
 * CRIU for Node: a private install of a pinned version, its RPC, an audit that says before a dump what will
 * fail, dump and restore over RPC, a manifest, and failures explained from the log's own lines.
 *
 * @packageDocumentation
 */
export { type Audit, type AuditFacts, type AuditOptions, assertPassed, auditSession } from "./audit/audit.js";
export { BLIND_SPOTS, type BlindSpot } from "./audit/blind-spots.js";
export { FIELD_RECORD_KINDS } from "./audit/field-record.js";
export {
  type Finding,
  type FindingProcess,
  type Proof,
  provenOn,
  RULES,
  type Rule,
  type RuleGround,
  type RuleId,
  type RuleOption,
  type Severity,
  severityFor,
} from "./audit/rules.js";
export { auditSettled, type SettledAudit, type SettleOptions } from "./audit/settle.js";
export { assertUsable, type CriuCheck, checkCriu } from "./check.js";
export { type DumpOptions, type DumpReport, dump } from "./checkpoint/dump.js";
export { imageBytes } from "./checkpoint/images.js";
export { dumpedLimits, type Limits, ownLimits } from "./checkpoint/limits.js";
export {
  assertRestorable,
  type CheckpointManifest,
  checkpointManifestSchema,
  parseManifest,
  type RestoreGround,
  readManifest,
  writeManifest,
} from "./checkpoint/manifest.js";
export {
  type CheckpointFlags,
  DEFAULT_FLAGS,
  type ExternalBind,
  type ExternalMount,
} from "./checkpoint/options.js";
export { type PreDumpOptions, preDump } from "./checkpoint/pre-dump.js";
export { type RestoreOptions, type RestoreReport, restore } from "./checkpoint/restore.js";
export { type DumpStats, parseDumpStats } from "./checkpoint/stats.js";
export { CriuError, type CriuErrorCode, type CriuErrorDetails, type LogExcerpt } from "./errors.js";
export {
  type ExplainedProcess,
  type Explanation,
  explainFailure,
  passesByItself,
} from "./explain/explain.js";
export { type LogLine, parseLog } from "./explain/log.js";
export { FAILURES, type FailureRule, type Phase } from "./explain/rules.js";
export { checkFeatures, FEATURES, type FeatureName, type FeatureState } from "./features.js";
export { type Demands, readDemands } from "./images/demands.js";
export type { FileKind, ImageDescriptor, ImageFile, ImageSocket } from "./images/files.js";
export { type IdMaps, type IdRange, readIdMaps } from "./images/id-maps.js";
export { type InspectedProcess, type Inspection, inspectImages } from "./images/inspect.js";
export type { ImageMapping, ImageMemory, MappingKind } from "./images/memory.js";
export type { ImageMount } from "./images/mounts.js";
export type { ImageProcess, ProcessState } from "./images/processes.js";
export { readProcesses } from "./images/processes.js";
export { type ImageSizes, imageSizes } from "./images/sizes.js";
export type { ServedPackage } from "./install/apt-root.js";
export { type InstallOptions, installCriu } from "./install/bundle.js";
export { type FetchedDeb, fetchDebs, type PinnedDeb, type Progress, resolvePins } from "./install/debs.js";
export { type Criu, type FindOptions, findCriu, OLDEST_VERSION } from "./install/find.js";
export { DEFAULT_VERSION, PINNED_VERSIONS } from "./install/pins.js";
export { KNOWN_UNUSABLE, type KnownUnusable } from "./install/unusable.js";
export { type KernelCache, openKernelCache } from "./kernel-cache.js";
export { type PreflightItem, type PreflightOptions, preflight } from "./preflight.js";
export { type CallOptions, callCriu } from "./rpc/client.js";
export type { CriuOptions, CriuRequest, CriuResponse } from "./rpc/messages.js";
export { type Notification, type NotifyHandler, STAGES, type Stage } from "./rpc/notify.js";
export { type PageServer, type PageServerOptions, startPageServer } from "./rpc/page-server.js";
export { type CriuFeatures, queryCheck, queryFeatures, queryVersion } from "./rpc/queries.js";
export type { StartOptions } from "./rpc/start.js";
