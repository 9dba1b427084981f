export { type Capacity, capacityOf, type ResourceCapacity } from "./capacity.js";
export { memoryFloor, parseMeminfo } from "./meminfo.js";
export { type SiblingNeeds, siblingNeeds } from "./needs.js";
export { assertFits } from "./refusal.js";
