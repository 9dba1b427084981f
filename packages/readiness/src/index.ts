/**
 * Is this desktop usable? Pixels and X11 window facts judged together, so that a black screen with a
 * cursor, a bright failure page and a panel over nothing are refused, and an honest dark desktop is not.
 * Reads Xvfb's frame file, speaks X11 itself over any connected stream, types by XTEST. No program is run.
 *
 * @packageDocumentation
 */

export { type Watch, wakeOnAny } from "./bell.js";
export { type BusCall, type BusClient, type BusFacts, isShellRunning, type MuteName } from "./bus/types.js";
export { type ShellWatch, type WatchShellOptions, watchShell } from "./bus/watch.js";
export { failureWindow, looksLikeFailurePage } from "./desktop/failure-page.js";
export { gnome } from "./desktop/gnome.js";
export { openbox } from "./desktop/openbox.js";
export type { DesktopProfile } from "./desktop/types.js";
export { ReadinessError, type ReadinessErrorCode, type ReadinessErrorFacts } from "./errors.js";
export { type FactsTexts, parseFactsText } from "./facts-text.js";
export {
  type ChangedRegion,
  type ChangedRegionOptions,
  changedRegion,
  frameDifference,
} from "./pixels/difference.js";
export { assertFrame, type Box, type Frame } from "./pixels/frame.js";
export { decodePng, encodePng } from "./pixels/png.js";
export { type ContactSheetOptions, contactSheet, type LabelledFrame, shrink } from "./pixels/sheet.js";
export { type PixelStats, pixelStats } from "./pixels/stats.js";
export { parseXwd, readXwd } from "./pixels/xwd.js";
export { type PreflightItem, type PreflightOptions, preflight } from "./preflight.js";
export { type DefaultRulesOptions, defaultRules, gnomeRules } from "./rules/default.js";
export { fieldRecordRules } from "./rules/field-record.js";
export type { Check, Failure, Observation, Rules, VerdictName, WindowExpectation } from "./rules/types.js";
export { applicationWindows, describeWindow, matchingWindows, unexpectedWindows } from "./rules/windows.js";
export { type JudgeInput, judge, type Verdict } from "./verdict.js";
export { type WaitOptions, type WaitResult, waitUntilReady } from "./wait.js";
export { type ConnectOptions, connectX, XSession } from "./x11/connection.js";
export { type DamageWatch, watchDamage } from "./x11/damage.js";
export { type GatherOptions, gatherFacts } from "./x11/facts.js";
export { type FocusOptions, focusWindow } from "./x11/focus.js";
export { pressKey, type TypeOptions, typeText } from "./x11/input.js";
export { readScreen } from "./x11/screen.js";
export type { XAuth, XSetup } from "./x11/setup.js";
export type { DesktopFacts, Monitor, WindowFacts, WindowManagerFacts } from "./x11/types.js";
