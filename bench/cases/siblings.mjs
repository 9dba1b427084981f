// Many siblings at once: until the first and the last are proven by a typed key, what each takes of memory, plain and
// merged, and how long a key takes while all are alive.
import * as drums from "../../packages/cli/dist/index.js";
import { measure, report } from "../measure.mjs";
import { applicationOf, forkToPixel, letterSeenIn, removeAll } from "../pixel.mjs";

const MIB = 2 ** 20;

export default async function siblings(context) {
  const { name } = await context.openedCheckpoint();
  const results = [];
  for (const count of context.counts) results.push(...(await together(context, name, count)));
  results.push(await merged(context, name, context.counts.at(-1)));
  return results;
}

async function together(context, checkpoint, count) {
  const { home, desktop } = context;
  const criu = await context.criu();
  const samples = { first: [], keys: [] };
  let memory = 0;
  const all = async () => {
    const { siblings, firstMs, totalMs } = await forkToPixel(context, { checkpoint, count }, { criu });
    samples.first.push(firstMs);
    for (const { id } of siblings)
      samples.keys.push(await timed(() => letterSeenIn(home, id, applicationOf(desktop))));
    memory = average(await Promise.all(siblings.map((one) => ownBytes(home, one.id))));
    await removeAll(home, siblings);
    return { overriddenDuration: totalMs };
  };
  const times = await measure({ all }, { iterations: 3, warmup: 0 });
  const { first, key } = await given({ first: samples.first, key: samples.keys });
  const line = report({
    name: `${desktop}: ${count} siblings, each proven by a typed key`,
    own: times.all,
    peer: first,
    peerName: "the first of them",
    goal: "16 of GNOME within 900 ms",
  });
  return [
    { ...line, perSecond: (count / times.all.median) * 1000, ownMiB: memory / MIB },
    report({
      name: `${desktop}: a key while ${count} are alive`,
      own: key,
      peer: first,
      peerName: "the first sibling",
      goal: "at most 150 ms",
    }),
  ];
}

/** Memory of each before and after the kernel merged it. */
async function merged(context, checkpoint, count) {
  const { home, desktop } = context;
  const criu = await context.criu();
  const request = { checkpoint, count, merge: true };
  const { siblings, settled } = await forkToPixel(context, request, { criu, hostTuning: true });
  await removeAll(home, siblings);
  const [before, after] = [settled.before, settled.after].map((all) => all.map((one) => one.ownBytes / MIB));
  const { own, peer } = await given({ own: after, peer: before });
  const unit = "MiB are printed as ms";
  return {
    ...report({
      name: `${desktop}: memory of a sibling of ${count}, merged (${unit})`,
      own,
      peer,
      peerName: "before merging",
      goal: "at most 45 MiB for GNOME",
    }),
    settledMs: settled.settledMs,
  };
}

async function ownBytes(home, id) {
  const { init } = await (await drums.findSession(home, id)).read();
  return (await drums.sessionMemory(init)).ownBytes;
}

async function timed(body) {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

/** Median and spread of numbers that are there already. */
async function given(series) {
  const entries = Object.entries(series).map(async ([name, values]) => {
    const left = [...values];
    const body = async () => ({ overriddenDuration: left.shift() });
    return [name, (await measure({ body }, { iterations: values.length, warmup: 0 })).body];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function average(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
