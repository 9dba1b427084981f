// GNOME with Writer: from the image to usable, the freeze of a dump, and siblings until a typed key is seen on their
// screens. Builds the gnome image where it is missing.
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";
import { letterSeen } from "../pixel.mjs";

export default async function gnome(context) {
  const desktop = drums.findDesktop("gnome");
  const writer = drums.findApplication(desktop, "writer");
  const started = await startUp(context);
  const { live } = await context.session("gnome");
  await drums.openApplication(live, desktop, writer);
  return [...started, await dump(context, live), ...(await siblings(context, writer))];
}

/** Whole starts, and what of each the wait took after the first frame that was usable. */
async function startUp(context) {
  const waits = [];
  const up = async (name) => {
    const image = await context.image(name);
    const began = performance.now();
    const { live, folder, ready } = await drums.upSession(context.home, {
      image,
      desktop: name,
      profile: context.profile,
    });
    const overriddenDuration = performance.now() - began;
    if (name === "gnome") waits.push(ready.elapsedMs - ready.history.at(-1).atMs);
    live.close();
    await drums.removeSession(context.home, folder);
    return { overriddenDuration };
  };
  const bodies = { gnome: () => up("gnome"), openbox: () => up("openbox") };
  const times = await measure(bodies, { iterations: 5, warmup: 1 });
  const settled = await measure(
    { added: async () => ({ overriddenDuration: waits.shift() }) },
    { iterations: waits.length, warmup: 0 },
  );
  const peer = { peer: times.openbox, peerName: "openbox from its image, to usable" };
  return [
    report({ name: "GNOME from its image, to usable", own: times.gnome, ...peer, goal: "at most 3000 ms" }),
    report({
      name: "readiness after the first usable frame",
      own: settled.added,
      peer: times.gnome,
      peerName: "the whole start",
      goal: "at most 150 ms",
    }),
  ];
}

async function dump(context, live) {
  const criu = await context.criu();
  const copies = [];
  const frozen = async () => {
    const name = `bench-freeze-${process.pid}`;
    const { path, dump: made } = await drums.createCheckpoint(context.home, live.record, { name, criu });
    copies.push(await copying(path));
    await rm(path, { recursive: true, force: true });
    return { overriddenDuration: made.frozenMs };
  };
  const times = {
    ...(await measure({ frozen }, { iterations: 8, warmup: 1 })),
    ...(await measure(
      { copy: async () => ({ overriddenDuration: copies.shift() }) },
      { iterations: 8, warmup: 1 },
    )),
  };
  const peer = { peer: times.copy, peerName: "copying the checkpoint's files" };
  return report({
    name: "GNOME with Writer frozen by a dump",
    own: times.frozen,
    ...peer,
    goal: "at most 250 ms",
  });
}

async function copying(path) {
  const target = `${path}-copy`;
  const began = performance.now();
  await cp(join(path, "images"), target, { recursive: true });
  const took = performance.now() - began;
  await rm(target, { recursive: true, force: true });
  return took;
}

async function siblings(context, writer) {
  const criu = await context.criu();
  const loaded = await context.checkpoint("gnome");
  const fork = (count) => async () => {
    const began = performance.now();
    const made = await Promise.all(
      Array.from({ length: count }, async () => {
        const sibling = await drums.restoreSibling(context.home, loaded, { criu });
        await letterSeen(sibling.live, writer);
        return sibling;
      }),
    );
    const overriddenDuration = performance.now() - began;
    for (const { live, folder } of made) {
      live.close();
      await drums.removeSession(context.home, folder);
    }
    return { overriddenDuration };
  };
  const times = await measure({ one: fork(1), four: fork(4) }, { iterations: 8, warmup: 1 });
  const what = "until a typed key is seen on its screen";
  return [
    report({
      name: `one sibling, ${what}`,
      own: times.one,
      peer: times.four,
      peerName: "four",
      goal: "at most 300 ms",
    }),
    report({
      name: `four siblings, ${what}`,
      own: times.four,
      peer: times.one,
      peerName: "one",
      goal: "at most 700 ms",
    }),
  ];
}
