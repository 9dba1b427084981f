export type { SysOptions, TuningKind } from "./knobs.js";
export { assertMergeable, untilMerged } from "./ksm.js";
export { collectTuning, withHostTuning } from "./tuning.js";
