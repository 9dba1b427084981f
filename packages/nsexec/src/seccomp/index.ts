export { type ArgumentTest, compileFilter, type FilterErrno, type FilterRule } from "./compile.js";
export { SESSION_RULES, sessionFilter } from "./session.js";
export { SYSCALLS } from "./syscalls.js";
