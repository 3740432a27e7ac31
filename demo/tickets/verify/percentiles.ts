/** Computes percentiles by nearest rank. */

/** Percentiles in milliseconds; null without values. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
}

export function percentilesOf(durations: readonly number[]): Percentiles {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number): number | null => {
    const value = sorted[Math.ceil(share * sorted.length) - 1];
    return value === undefined ? null : Math.round(value * 1000) / 1000;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
