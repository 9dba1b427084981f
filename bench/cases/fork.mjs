// One sibling, from the call to a typed key on its own screen: restored, and taken from a pool; against the machine's
// floor, which is to read the checkpoint's pages into fresh memory.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";
import { forkToPixel, removeAll } from "../pixel.mjs";

const ROUNDS = 50;
const POOL = 8;

export default async function fork(context) {
  const { home } = context;
  const criu = await context.criu();
  const checkpoint = await context.openedCheckpoint();
  const one = (options) => async () => {
    const { siblings, totalMs } = await forkToPixel(
      context,
      { checkpoint: checkpoint.name, count: 1 },
      options,
    );
    await removeAll(home, siblings);
    return { overriddenDuration: totalMs };
  };
  const floor = async () => {
    for (const name of (await readdir(checkpoint.images)).filter((file) => file.startsWith("pages-")))
      await readFile(join(checkpoint.images, name));
  };
  const times = await measure(
    { plain: one({ criu }), tuned: one({ criu, hostTuning: true }), floor },
    { iterations: ROUNDS },
  );
  const peer = { peer: times.floor, peerName: "reading the checkpoint's pages into memory" };
  const what = `${context.desktop}: a sibling, from the call to a typed key on its screen`;
  return [
    report({ name: what, own: times.plain, ...peer, goal: "at most 130 ms for GNOME with Writer" }),
    report({ name: `${what}, with --host-tuning`, own: times.tuned, ...peer, goal: "less than without" }),
    await pool(context, checkpoint, times.plain),
  ];
}

async function pool(context, { name }, plain) {
  const { home } = context;
  const criu = await context.criu();
  await drums.setPoolSize(home, name, POOL);
  try {
    const filled = await drums.fillPools(home, { criuOf: async () => criu });
    const take = async () => {
      const { siblings, totalMs } = await forkToPixel(context, { checkpoint: name, count: 1 }, { criu });
      await removeAll(home, siblings);
      return { overriddenDuration: totalMs };
    };
    const times = await measure({ take }, { iterations: filled.length - 2, warmup: 2 });
    return report({
      name: `${context.desktop}: the same from a pool`,
      own: times.take,
      peer: plain,
      peerName: "restored",
      goal: "at most 25 ms",
    });
  } finally {
    await drums.removePool(home, name);
  }
}
