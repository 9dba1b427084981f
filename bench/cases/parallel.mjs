import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";

const COUNT = 4;

/** Siblings restored side by side, against the same number one after another. */
export default async function parallel(context) {
  const { home } = context;
  const criu = await context.criu();
  const loaded = await context.checkpoint();
  const restored = async (run) => {
    const began = performance.now();
    const siblings = await run(() => drums.restoreSibling(home, loaded, { criu }));
    const overriddenDuration = performance.now() - began;
    for (const { live, folder } of siblings) {
      live.close();
      await drums.removeSession(home, folder);
    }
    return { overriddenDuration };
  };
  const together = (one) => Promise.all(Array.from({ length: COUNT }, one));
  const inTurn = async (one) => {
    const siblings = [];
    for (let number = 0; number < COUNT; number++) siblings.push(await one());
    return siblings;
  };
  const times = await measure(
    { together: () => restored(together), inTurn: () => restored(inTurn) },
    { iterations: 6, warmup: 1 },
  );
  const against = { peer: times.inTurn, peerName: "one after another" };
  return report({
    name: `${COUNT} siblings at once`,
    own: times.together,
    ...against,
    goal: "ratio at most 0.7",
  });
}
