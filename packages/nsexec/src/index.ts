export { errnoName, NsexecError, type NsexecErrorFacts, SyscallError } from "./errors.js";
export * from "./proc/index.js";
export * as sys from "./syscalls/index.js";
