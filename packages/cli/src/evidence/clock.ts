/** CLOCK_MONOTONIC in milliseconds, to the microsecond. Comparable between processes of one boot. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
