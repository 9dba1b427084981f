import { expect } from "vitest";
import { gatherFacts, openbox, type Rules, waitUntilReady, type XSession } from "../../src/index.js";
import type { Xvfb } from "./xvfb.js";

const openboxRules: Rules = {
  name: "openbox alone",
  checks: (seen) => openbox.checks(seen, undefined),
};

/** A program that starts before openbox is done gets neither frame nor focus. */
export async function startOpenbox(xvfb: Xvfb, x: XSession): Promise<void> {
  xvfb.start("openbox");
  const facts = () => gatherFacts(x);
  const { verdict } = await waitUntilReady({ frame: xvfb.frame, facts, rules: openboxRules, settleMs: 0 });
  expect(verdict.reasons, verdict.name).toEqual([
    expect.stringContaining("openbox is done starting: _OB_THEME is"),
  ]);
}
