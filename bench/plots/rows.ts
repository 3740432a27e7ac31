/** Draws the plots of large tables: how fast operations are, and how long a start takes. */
import type { SizeRow } from '../rows/goals.ts';
import type { Report } from '../harness/results.ts';
import { linesFigure, type Point } from './lines.ts';
import { rowsOf } from './read.ts';
import { BLUE, ORANGE, short, VIOLET, type Drawn } from './svg.ts';

const SERIES = {
  'a write': ['writeUs', ORANGE],
  'a read': ['readUs', BLUE],
  'a scan of 1,000 keys': ['scanUs', VIOLET],
} as const;

const ROWS_AXIS = { label: 'rows (log scale)', type: 'log' } as const;

export function drawRows(report: Report): Drawn {
  const rows = rowsOf<SizeRow>(report).filter(({ name }) => name === 'this');
  const largest = rows.at(-1);
  if (largest === undefined) return {};
  const count = largest.rows.toLocaleString('en-US');
  const speed = linesFigure({
    title: `With ${count} rows, a write takes ${short(largest.writeUs)} µs, a read ${short(largest.readUs)} µs, and a scan of 1,000 keys ${short(largest.scanUs)} µs`,
    note: 'Time of an operation on random rows at one site with a data directory, called in its own process: medians of the rounds.',
    see: 'Rows have 100 bytes that no store can compress. There is no network in it.',
    colors: Object.fromEntries(Object.entries(SERIES).map(([name, [, color]]) => [name, color])),
    x: ROWS_AXIS,
    y: { label: 'microseconds (log scale)', type: 'log' },
    points: Object.entries(SERIES).flatMap(([series, [figure]]) =>
      rows.map((row): Point => ({ series, x: row.rows, y: row[figure] })),
    ),
  });
  const start = linesFigure({
    title: `With ${count} rows, a start takes ${short(largest.startMs / 1000)} s`,
    note: 'From the call that starts the site to its first answer: medians of the rounds.',
    see: `The site then has ${short(largest.memoryMb)} MB on the heap, and ${short(largest.diskMb)} MB on the disk.`,
    colors: { start: BLUE },
    x: ROWS_AXIS,
    y: { label: 'milliseconds (log scale)', type: 'log' },
    points: rows.map((row): Point => ({ series: 'start', x: row.rows, y: row.startMs })),
  });
  return { 'rows-speed': speed, 'rows-start': start };
}
