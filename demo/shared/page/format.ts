/** How the pages write durations and words. */

/** A duration in milliseconds with the digits that matter: 0.8 ms, 12.3 ms, 146 ms. */
export function formatMs(ms: number): string {
  const digits = ms < 99.95 ? 1 : 0;
  return `${ms.toFixed(digits)} ms`;
}

/** A text with a capital at its beginning. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
