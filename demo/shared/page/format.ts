/** How the pages write durations. */

/** A duration in milliseconds with the digits that matter: 0.8 ms, 12.3 ms, 146 ms. */
export function formatMs(ms: number): string {
  const digits = ms < 99.95 ? 1 : 0;
  return `${ms.toFixed(digits)} ms`;
}
