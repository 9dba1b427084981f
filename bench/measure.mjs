/**
 * Runs named bodies in turn, one of each a round, so that noise of the machine meets all alike; `warmup` rounds first.
 * A body is timed whole, or gives `{ overriddenDuration }` in milliseconds. Returns median and spread (10th to 90th
 * percentile) in milliseconds by name.
 */
export async function measure(bodies, { iterations = 30, warmup = 3 } = {}) {
  const samples = new Map(Object.keys(bodies).map((name) => [name, []]));
  for (let round = -warmup; round < iterations; round++)
    for (const [name, body] of Object.entries(bodies)) {
      const began = performance.now();
      const result = await body();
      const took = result?.overriddenDuration ?? performance.now() - began;
      if (round >= 0) samples.get(name).push(took);
    }
  return Object.fromEntries([...samples].map(([name, taken]) => [name, summary(taken)]));
}

function summary(taken) {
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (fraction) => sorted[Math.min(sorted.length - 1, Math.floor(fraction * sorted.length))];
  return { median: at(0.5), low: at(0.1), high: at(0.9), samples: sorted.length };
}

/** A line of the table: what was measured, against what in the same run, and what is to be reached. */
export function report({ name, own, peer, peerName, goal }) {
  const ms = ({ median, low, high }) => `${median.toFixed(2)} ms (${low.toFixed(2)}–${high.toFixed(2)})`;
  const ratio = (own.median / peer.median).toFixed(2);
  process.stdout.write(`${name}: ${ms(own)}; ${peerName}: ${ms(peer)}; ratio ${ratio}; goal: ${goal}\n`);
  return { name, own, peer: { name: peerName, ...peer }, ratio: Number(ratio), goal };
}
