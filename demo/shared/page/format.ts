/** Formats durations and words for the pages. */

/** Formats a duration in milliseconds with its significant digits: 0.8 ms, 12.3 ms, 146 ms. */
export function formatMs(ms: number): string {
  const digits = ms < 99.95 ? 1 : 0;
  return `${ms.toFixed(digits)} ms`;
}

/** Returns a text with a capital first letter. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
