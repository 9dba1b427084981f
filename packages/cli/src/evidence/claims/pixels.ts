import { type Frame, frameDifference, pixelStats } from "@drums/readiness";
import { expect, type Finding } from "./rule.js";

/** A restored screen may differ from the one before the dump by this fraction of its pixels. */
export const MAX_SCREEN_CHANGE = 0.05;
/** A screen that is worth comparing has at least so many colours. */
export const MIN_COLOURS = 50;

/** The screen is like the reference, and neither is blank. */
export function likeReference(frame: Frame, reference: Frame): Finding[] {
  const changed = frameDifference(frame, reference);
  const { colours } = pixelStats(frame);
  return [
    expect(
      changed <= MAX_SCREEN_CHANGE,
      `${percent(changed)} of the screen differ`,
      `${percent(changed)} of the screen differ, allowed are ${percent(MAX_SCREEN_CHANGE)}`,
    ),
    expect(colours >= MIN_COLOURS, `${colours} colours`, `${colours} colours, wanted are ${MIN_COLOURS}`),
  ];
}

/** A fraction as percent with two digits. */
export function percent(fraction: number): string {
  return `${(fraction * 100).toFixed(2)} %`;
}
