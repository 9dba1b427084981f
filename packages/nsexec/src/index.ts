/**
 * Launch, enter and inspect Linux namespaces: children in namespaces of their own, sessions launched
 * from a plan in two stages, the safe door to a session's files, readers of /proc, and thin system
 * calls under `sys`. The native addon loads at the first call that needs it.
 * @packageDocumentation
 */
export { type NativeChild, spawnNative } from "./child.js";
export * from "./clone-identity/index.js";
export { type EnterOptions, type EnterResult, enterSession } from "./enter.js";
export { errnoName, NsexecError, type NsexecErrorFacts, SyscallError } from "./errors.js";
export * from "./explain/index.js";
export { initBinaryPath } from "./init-binary.js";
export * from "./init-client/index.js";
export * from "./launch/index.js";
export * from "./network/index.js";
export { packageRoot } from "./package-root.js";
export { hasOwnPidMax, type PidMaxTarget, setPidMax } from "./pid-max.js";
export * from "./plan/index.js";
export { type PreflightItem, type PreflightOptions, preflight } from "./preflight.js";
export type { PreflightSystem } from "./preflight-system.js";
export * from "./proc/index.js";
export * from "./profiles/index.js";
export * from "./seccomp/index.js";
export { type ChannelOptions, type ReceiveOptions, SeqpacketChannel } from "./seqpacket.js";
export {
  openFolderRoot,
  openSessionRoot,
  type ReadFileOptions,
  type SessionConnectOptions,
  SessionRoot,
  type SessionRootTarget,
  type SessionStat,
} from "./session-files.js";
export type { FileKind, FollowOption } from "./session-resolve.js";
export type * from "./syscalls/index.js";
export * as sys from "./syscalls/index.js";
