export { type CollectOptions, collectPreflight } from "./collect.js";
export { type AreaItem, blockersOf, type PreflightItem } from "./items.js";
export { type Machine, thisMachine } from "./machine.js";
export type { PreflightSource } from "./packages.js";
export { siblingItems } from "./siblings.js";
