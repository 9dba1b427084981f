import type { Home } from "../home.js";
import type { Progress } from "../render/progress.js";
import { collectGarbage } from "../session/gc.js";

/**
 * Takes down what dead owners left, before a command starts something of its own, and tells of it. What could not be
 * taken down does not keep the command: `drums gc` tries again and says why.
 */
export async function sweep(home: Home, progress: Pick<Progress, "note">): Promise<void> {
  const { sessions, checkpoints, roots, knobs, failures } = await collectGarbage(home);
  for (const name of [...sessions, ...checkpoints, ...roots])
    progress.note(`taken down, its owner is dead: ${name}`);
  for (const file of knobs) progress.note(`put back, its owner is dead: /sys/kernel/${file}`);
  for (const failure of failures) progress.note(`left for drums gc: ${failure}`);
}
