export {
  type ConnectInitOptions,
  connectInit,
  InitClient,
  type RunOptions,
  type RunResult,
} from "./client.js";
export type { ChildState, PtySize, SpawnOptions } from "./messages.js";
