export { type FillOptions, fillPools } from "./fill.js";
export { removePool, removeSurplus } from "./remove.js";
export { listPools, MOST_POOLED, poolSize, setPoolSize, warmSiblings } from "./store.js";
export { type Taken, type TakeOptions, takeWarm } from "./take.js";
