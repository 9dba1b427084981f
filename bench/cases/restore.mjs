import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";

export default async function restore(context) {
  const { home, profile } = context;
  const image = await context.image();
  const criu = await context.criu();
  const loaded = await context.checkpoint();
  const up = async () => {
    const began = performance.now();
    const booted = await drums.upSession(home, { image, desktop: "openbox", profile });
    const overriddenDuration = performance.now() - began;
    booted.live.close();
    await drums.removeSession(home, booted.folder);
    return { overriddenDuration };
  };
  const own = async () => {
    const sibling = await drums.restoreSibling(home, loaded, { criu });
    sibling.live.close();
    await drums.removeSession(home, sibling.folder);
    return { overriddenDuration: sibling.report.totalMs };
  };
  const times = {
    ...(await measure({ drums: own }, { iterations: 20 })),
    ...(await measure({ up }, { iterations: 5, warmup: 1 })),
  };
  const against = { peer: times.up, peerName: "the same desktop from its image, to usable" };
  return report({ name: "one sibling restored", own: times.drums, ...against, goal: "at most 130 ms" });
}
