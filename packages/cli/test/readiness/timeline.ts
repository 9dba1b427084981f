import { setTimeout as sleep } from "node:timers/promises";
import { type Frame, frameDifference, shrink, type Verdict, type VerdictName } from "@drums/readiness";
import type { GnomeSession } from "../support/gnome.js";

/** One start, from its first look to a desktop that was left alone for a while, in milliseconds since that look. */
export interface Timeline {
  readonly history: readonly { name: VerdictName; atMs: number; remedy?: string | undefined }[];
  readonly verdict: VerdictName;
  readonly verdictMs: number;
  /** The first look from which on the screen was as it then stayed; what was judged later only confirmed it. */
  readonly usableMs: number;
  /** The fraction of pixels in which the screen that was called ready differs from the settled one. */
  readonly difference: number;
}

/** Shrunk, so that a start's frames can all be kept. */
const THUMBNAIL_WIDTH = 160;
/** A clock's minute, a toast that goes: what may differ between a ready screen and the settled one. */
const MAX_DIFFERENCE = 0.03;
/** A thumbnail's pixels are means: of those hardly one changes by a clock. */
const MAX_THUMBNAIL_DIFFERENCE = 0.05;

/** Waits for the verdict, keeping every frame, then until the screen has stood still by itself. */
export async function timelineOf(gnome: GnomeSession, options: { timeoutMs: number }): Promise<Timeline> {
  const seen: { atMs: number; thumbnail: Frame }[] = [];
  const started = performance.now();
  const frame = async () => {
    const atMs = performance.now() - started;
    const taken = await gnome.live.frame();
    seen.push({ atMs, thumbnail: shrink(taken, THUMBNAIL_WIDTH) });
    return taken;
  };
  const history: { name: VerdictName; atMs: number; remedy?: string | undefined }[] = [];
  const onVerdict = ({ name, remedy }: Verdict, atMs: number) => void history.push({ name, atMs, remedy });
  const { verdict, frames, elapsedMs } = await gnome.wait({ ...options, frame, onVerdict });
  const settled = verdict.ready ? await settledFrame(gnome) : undefined;
  const last = frames.at(-1);
  return {
    history,
    verdict: verdict.name,
    verdictMs: elapsedMs,
    usableMs: settled === undefined ? Number.NaN : firstLike(seen, shrink(settled, THUMBNAIL_WIDTH)),
    difference: settled === undefined || last === undefined ? Number.NaN : frameDifference(last, settled),
  };
}

/** Why a timeline of a start that should succeed is wrong; undefined for a right one. */
export function wrongIn({ verdict, difference, history }: Timeline): string | undefined {
  if (verdict !== "ready") return `the last verdict is ${verdict}`;
  if (difference > MAX_DIFFERENCE)
    return `the screen that was called ready changed by ${(difference * 100).toFixed(1)} % afterwards`;
  const strange = history.find(({ name }) => !OF_A_START.has(name));
  return strange && `${strange.name} was said of a start that succeeded (${strange.remedy ?? "no remedy"})`;
}

const OF_A_START: ReadonlySet<VerdictName> = new Set([
  "no-screen",
  "black-early",
  "one-colour",
  "nothing-but-panel",
  "shell-starting",
  "still-changing",
  "ready",
]);

/** The screen once it has not changed for two seconds, whatever any rule says of it. */
async function settledFrame({ live }: GnomeSession): Promise<Frame> {
  let [frame, since] = [await live.frame(), performance.now()];
  const deadline = since + 60_000;
  while (performance.now() - since < 2_000 && performance.now() < deadline) {
    await sleep(200);
    const next = await live.frame();
    if (frameDifference(frame, next) > 0.001) since = performance.now();
    frame = next;
  }
  return frame;
}

function firstLike(seen: readonly { atMs: number; thumbnail: Frame }[], settled: Frame): number {
  const isLike = seen.map(({ thumbnail }) => frameDifference(thumbnail, settled) <= MAX_THUMBNAIL_DIFFERENCE);
  return seen[isLike.lastIndexOf(false) + 1]?.atMs ?? Number.NaN;
}
