/**
 * A private D-Bus system bus that activates nothing: the flattened configuration of an image's own, the daemon's
 * command and readiness, the bus's identity, and a verification that treats the bus as hostile.
 *
 * All access goes through functions that the caller gives, so that files and sockets of a session are reached
 * through its root.
 *
 * @packageDocumentation
 */
export {
  type ConfigReader,
  type FlatConfig,
  type FlattenOptions,
  type FlattenSource,
  flattenConfig,
  flattenHostConfig,
} from "./config/flatten.js";
export { type ConfigElement, parseConfig } from "./config/parse.js";
export { unixAddress, type WriteOptions, writeConfig } from "./config/write.js";
export { type BusCommandSpec, busCommand, type WaitForBusOptions, waitForBus } from "./daemon.js";
export { DbusError, type DbusErrorCode, type DbusErrorFacts } from "./errors.js";
export {
  type BusIdentity,
  busIdentity,
  checkHostBus,
  formatIdentity,
  type HostBus,
  type NamedBus,
  readHostBus,
  sameBus,
  sharedBuses,
} from "./identity.js";
export { findSystemConfig, type PreflightItem, type PreflightOptions, preflight } from "./preflight.js";
export {
  findMuteNames,
  type NameAnswer,
  type NamesReport,
  type ProbeNamesOptions,
  probeNames,
} from "./probe.js";
export type { MethodAnswer, StubFacts, StubValue } from "./stubs/answers.js";
export {
  type PlannedMethod,
  type StubCommandSpec,
  type StubName,
  type StubPlan,
  stubCommand,
  stubNames,
  stubPlan,
} from "./stubs/command.js";
export { type BusCheck, type BusReport, type VerifyBusSpec, verifyBus } from "./verify.js";
export {
  type BusConnection,
  type BusSignal,
  busCall,
  type ConnectBus,
  type OpenBusOptions,
  openBus,
  withBus,
} from "./wire/connection.js";
export type { MethodCall } from "./wire/message.js";
export type { DbusValue, DbusVariant } from "./wire/values.js";
