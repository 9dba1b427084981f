// A key typed into a sibling, seen on its own screen: the proof that all of it runs.
import * as drums from "../packages/cli/dist/index.js";
import { changedRegion, typeText } from "../packages/readiness/dist/index.js";

/** A caret that blinks is narrower. */
const LETTER_WIDTH = 6;

/** Types a letter into a live session's application and resolves once it is on the screen. */
export async function letterSeen(live, application) {
  const { windows } = await live.facts();
  const window = windows.find((one) => one.class === application.window.class);
  const before = await live.frame();
  await live.withX((x) => typeText(x, "x", { window: window.id }));
  const within = window.geometry;
  while ((changedRegion(before, await live.frame(), { within })?.width ?? 0) < LETTER_WIDTH);
}

/** The same for a session that is named by its id. */
export async function letterSeenIn(home, id, application) {
  const live = await drums.openSession(await (await drums.findSession(home, id)).read());
  try {
    await letterSeen(live, application);
  } finally {
    live.close();
  }
}

/** The application that a desktop of the benchmarks has open: its first. */
export function applicationOf(desktop) {
  return drums.findDesktop(desktop).applications[0];
}

/** Forks as the command does, the letter seen in each as soon as it is reported usable; the siblings and the times. */
export async function forkToPixel({ home, desktop }, request, options) {
  const began = performance.now();
  const seen = [];
  const application = applicationOf(desktop);
  const onUsable = ({ id }) => {
    const proof = letterSeenIn(home, id, application).then(() => performance.now() - began);
    seen.push(proof);
  };
  const { siblings, failures, settled } = await drums.forkTuned(home, request, {
    hostTuning: false,
    ...options,
    onUsable,
  });
  if (failures.length > 0) throw failures[0];
  const times = (await Promise.all(seen)).sort((a, b) => a - b);
  return { siblings, settled, firstMs: times[0], totalMs: times.at(-1) };
}

/** Takes siblings down. */
export async function removeAll(home, siblings) {
  for (const { id } of siblings) await drums.removeSession(home, await drums.findSession(home, id));
}
