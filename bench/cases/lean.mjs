// Lean settings, each alone and all together: the size of a checkpoint's images, and one sibling from the call to a
// typed key on its screen.
import { rm } from "node:fs/promises";
import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";
import { applicationOf, forkToPixel, removeAll } from "../pixel.mjs";

export default async function lean(context) {
  const variants = {
    none: [],
    ...Object.fromEntries(drums.leanNames.map((name) => [name, [name]])),
    all: [...drums.leanNames],
  };
  const made = [];
  try {
    for (const [name, settings] of Object.entries(variants))
      made.push(await prepare(context, name, settings));
    return await compare(context, made);
  } finally {
    for (const { checkpoint, folder } of made) {
      await rm(context.home.entry("checkpoints", checkpoint), { recursive: true, force: true });
      await drums.removeSession(context.home, folder);
    }
  }
}

async function prepare(context, name, settings) {
  const { home, desktop, profile } = context;
  const image = await context.image(desktop);
  const { live, folder } = await drums.upSession(home, { image, desktop, profile, lean: settings });
  const recipe = drums.findDesktop(desktop, { lean: settings });
  const application = applicationOf(desktop);
  if (application.argv !== undefined) await drums.openApplication(live, recipe, application);
  const checkpoint = `bench-lean-${name}-${process.pid}`;
  const { dump } = await drums.createCheckpoint(home, live.record, {
    name: checkpoint,
    criu: await context.criu(),
  });
  live.close();
  return { name, checkpoint, folder, mib: dump.bytes / 2 ** 20 };
}

async function compare(context, made) {
  const criu = await context.criu();
  const one = (checkpoint) => async () => {
    const { siblings, totalMs } = await forkToPixel(context, { checkpoint, count: 1 }, { criu });
    await removeAll(context.home, siblings);
    return { overriddenDuration: totalMs };
  };
  const bodies = Object.fromEntries(made.map(({ name, checkpoint }) => [name, one(checkpoint)]));
  const times = await measure(bodies, { iterations: 12, warmup: 1 });
  return made.map(({ name, mib }) => ({
    ...report({
      name: `${context.desktop}: lean ${name}, ${mib.toFixed(1)} MiB of images; a sibling to a typed key`,
      own: times[name],
      peer: times.none,
      peerName: "without",
      goal: "less than without",
    }),
    mib,
  }));
}
