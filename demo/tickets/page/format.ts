/** Formats durations and tickets for the page. */

/** Formats a duration in milliseconds with its significant digits: 0.8 ms, 12.3 ms, 146 ms. */
export function formatMs(ms: number): string {
  const digits = ms < 99.95 ? 1 : 0;
  return `${ms.toFixed(digits)} ms`;
}

/** Formats the number of a ticket, without the name of its event. null means an empty queue. */
export function formatItem(item: string | null): string {
  return item === null ? 'none left' : `#${item.slice(item.lastIndexOf('#') + 1)}`;
}
