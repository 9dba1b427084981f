export { type FreshMachine, freshenMachine } from "./fresh.js";
export { type HostnameTarget, setHostname } from "./hostname.js";
export { hostsWith } from "./hosts.js";
export { type OnForkProgram, runOnFork } from "./on-fork.js";
export { type CloneIdentity, IDENTITY_FILES } from "./types.js";
export { writeIdentity } from "./write.js";
