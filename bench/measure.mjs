import { Bench } from "tinybench";

/**
 * Runs named bodies one after another, `iterations` times each after a warm-up, and returns
 * median and spread (10th to 90th percentile) in milliseconds by name.
 */
export async function measure(bodies, { iterations = 30, warmup = 3 } = {}) {
  const bench = new Bench({
    iterations,
    time: 0,
    warmupIterations: warmup,
    warmupTime: 0,
    retainSamples: true,
  });
  for (const [name, body] of Object.entries(bodies)) bench.add(name, body);
  await bench.run();
  return Object.fromEntries(bench.tasks.map((task) => [task.name, summary(task)]));
}

function summary({ name, result }) {
  if (result?.latency?.samples === undefined) throw result?.error ?? new Error(`${name} was not measured`);
  const samples = [...result.latency.samples].sort((a, b) => a - b);
  const at = (fraction) => samples[Math.min(samples.length - 1, Math.floor(fraction * samples.length))];
  return { median: at(0.5), low: at(0.1), high: at(0.9), samples: samples.length };
}

/** A line of the table: what was measured, against what in the same run, and what is to be reached. */
export function report({ name, own, peer, peerName, goal }) {
  const ms = ({ median, low, high }) => `${median.toFixed(2)} ms (${low.toFixed(2)}–${high.toFixed(2)})`;
  const ratio = (own.median / peer.median).toFixed(2);
  process.stdout.write(`${name}: ${ms(own)}; ${peerName}: ${ms(peer)}; ratio ${ratio}; goal: ${goal}\n`);
  return { name, own, peer: { name: peerName, ...peer }, ratio: Number(ratio), goal };
}
