/** The figures of a site with a large table, beside one with a small table. */
import { atLeast, estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { pairedRatios } from '../harness/statistics.ts';
import type { Workload } from './messages.ts';

/** `other` is another checkout, if one was named. */
export type Name = 'this' | 'other';

/** One site with so many rows, in one round. */
export interface Measured {
  readonly name: Name;
  readonly rows: number;
  readonly fillUsPerRow: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** From the call that starts the site again to its first answer. */
  readonly startMs: number;
  readonly usPerOperation: Readonly<Record<Workload, number>>;
  readonly longestPauseMs: Readonly<Record<Workload, number>>;
}

/** A row of the report: the medians of one checkout and one size of the table. */
export type SizeRow = Readonly<
  Record<
    | 'rows'
    | 'startMs'
    | 'memoryMb'
    | 'diskMb'
    | 'fillUsPerRow'
    | 'writeUs'
    | 'readUs'
    | 'scanUs'
    | 'writePauseMs'
    | 'readPauseMs',
    number
  > & { readonly name: Name }
>;

/** The sizes of the table. */
export interface Sizes {
  readonly small: number;
  readonly large: number;
  readonly huge: number;
}

type Figure = (measured: Measured) => number;

export function computeGoalResults(
  all: readonly Measured[],
  { small, large, huge }: Sizes,
): GoalResult[] {
  const own = (figure: Figure): number[] => listFigures(all, 'this', large, figure);
  const asInSmall = (workload: Workload): readonly number[] => {
    const figure: Figure = ({ usPerOperation }) => usPerOperation[workload];
    return pairedRatios(listFigures(all, 'this', small, figure), own(figure));
  };
  const results = [
    limitTime('start-ms', estimate(own(({ startMs }) => startMs)), { aim: 1000 }, 'ms'),
    reported('memory-bytes-per-row', estimate(own(perRow('memoryBytes'))), 'bytes'),
    reported('disk-bytes-per-row', estimate(own(perRow('diskBytes'))), 'bytes'),
    atLeast('writes-vs-small', estimate(asInSmall('write')), { aim: 0.3 }),
    atLeast('reads-vs-small', estimate(asInSmall('read')), { aim: 0.6 }),
    atLeast('scans-vs-small', estimate(asInSmall('scan')), { aim: 1 / 8 }),
    limitTime('write-pause-ms', estimate(own(pauseOf('write'))), { aim: 30 }, 'ms'),
    ...reportHuge(all, { small, huge }),
  ];
  if (!all.some(({ name }) => name === 'other')) return results;
  return [...results, ...compare(all, large)];
}

/** It is measured once. The small table is that of the first round. */
function reportHuge(
  all: readonly Measured[],
  { small, huge }: Pick<Sizes, 'small' | 'huge'>,
): GoalResult[] {
  const first = (rows: number, figure: Figure): number =>
    listFigures(all, 'this', rows, figure)[0] ?? Number.NaN;
  const asInSmall = (workload: Workload): GoalResult => {
    const figure: Figure = ({ usPerOperation }) => usPerOperation[workload];
    const ratio = first(small, figure) / first(huge, figure);
    return reported(`huge-${workload}s-vs-small`, estimate([ratio]));
  };
  const report = (name: string, unit: string, figure: Figure): GoalResult =>
    reported(name, estimate([first(huge, figure)]), unit);
  return [
    report('huge-start-ms', 'ms', ({ startMs }) => startMs),
    report('huge-memory-mb', 'MB', ({ memoryBytes }) => memoryBytes / 1e6),
    report('huge-disk-mb', 'MB', ({ diskBytes }) => diskBytes / 1e6),
    report('huge-write-pause-ms', 'ms', pauseOf('write')),
    asInSmall('write'),
    asInSmall('read'),
    asInSmall('scan'),
  ];
}

/** Returns figures of this checkout as a multiple of those of the other one in the same round. */
function compare(all: readonly Measured[], large: number): GoalResult[] {
  const figures: Readonly<Record<string, Figure>> = {
    start: ({ startMs }) => startMs,
    memory: ({ memoryBytes }) => memoryBytes,
    disk: ({ diskBytes }) => diskBytes,
    write: ({ usPerOperation }) => usPerOperation.write,
    read: ({ usPerOperation }) => usPerOperation.read,
    scan: ({ usPerOperation }) => usPerOperation.scan,
    'write-pause': pauseOf('write'),
  };
  const list = (name: Name, figure: Figure): number[] => listFigures(all, name, large, figure);
  return Object.entries(figures).map(([title, figure]) =>
    reported(
      `${title}-vs-other`,
      estimate(pairedRatios(list('this', figure), list('other', figure))),
    ),
  );
}

/** Returns a figure of one checkout and one size of the table, for each round. */
function listFigures(all: readonly Measured[], name: Name, rows: number, figure: Figure): number[] {
  return all.filter((item) => item.name === name && item.rows === rows).map(figure);
}

function perRow(figure: 'memoryBytes' | 'diskBytes'): Figure {
  return (measured) => measured[figure] / measured.rows;
}

function pauseOf(workload: Workload): Figure {
  return ({ longestPauseMs }) => longestPauseMs[workload];
}
