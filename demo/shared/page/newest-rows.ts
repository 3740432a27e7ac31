import { make } from './dom.ts';

/** The maximum number of rows, so that drawing does not become slower with time. */
const ROWS_MAX = 30;

/**
 * Shows the newest items in the rows of a table, the last one at the top. An item that is the same
 * object as before keeps its row as it is.
 *
 * @param fill writes an item into its row
 */
export function createNewestRows<T>(
  body: HTMLElement,
  fill: (row: HTMLTableRowElement, item: T) => void,
): (items: readonly T[]) => void {
  const rows: HTMLTableRowElement[] = [];
  const shown: T[] = [];
  return (items) => {
    const start = Math.max(0, items.length - ROWS_MAX);
    for (const [at, item] of items.entries()) {
      if (at < start) rows[at]?.remove();
      else if (item !== shown[at]) {
        const row = (rows[at] ??= make('tr', ''));
        if (!row.isConnected) body.prepend(row);
        fill(row, item);
        shown[at] = item;
      }
    }
  };
}
