import {
  createCheckpoint,
  criuFor,
  findHome,
  findSession,
  forkCheckpoint,
  type Home,
  removeSession,
  upSession,
} from "@drums/cli";

/** Brings a desktop up from an image, freezes it, forks it twice, and takes the original down. Needs root. */
export async function freezeAndFork(image: string, home: Home = findHome()): Promise<string[]> {
  const progress = { step: <T>(_label: string, run: () => Promise<T>) => run(), update: () => {} };
  const criu = await criuFor(home, progress);

  const { live, folder } = await upSession(home, { image, desktop: "openbox" });
  const { width, height } = await live.frame();
  await createCheckpoint(home, live.record, { name: "base", criu });
  live.close();

  const { siblings, failures } = await forkCheckpoint(home, { checkpoint: "base", count: 2 }, { criu });
  if (failures.length > 0) throw failures[0];
  await removeSession(home, folder);

  const ids = siblings.map(({ id }) => id);
  for (const id of ids) await removeSession(home, await findSession(home, id));
  return [`a screen of ${width}×${height}`, `${new Set(ids).size} siblings, each usable`];
}
