/**
 * How much it helps locals if a global is broadcast later in the partition of its client, as in the
 * paper.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { createCell, divideFigures, GLOBALS, runCells, type Cell, type Row } from './cells.ts';

export const DELAYS_MS = [0, 20, 40, 60] as const;
const [NONE] = DELAYS_MS;
/** The delay of which the paper states the figures: 321 ms become 232.2 ms with 1 % of globals. */
const STATED_MS = 20;
const STATED_GLOBALS = 1;
const WITH_GLOBALS = GLOBALS.filter((globals) => globals > 0);
const UNCHANGED = 1;

export const sdurDelay: Bench = {
  name: 'sdur-delay',
  about:
    'globals that are broadcast later in their own partition, in the protocol of the paper, in virtual time',
  run,
};

async function run(settings: Settings): Promise<Outcome> {
  const rows = runCells(listCells(), settings);
  return {
    rounds: 1,
    rows: rows.map((row) => ({ ...row })),
    bars: computeGoalResults(rows),
    samples: rows,
  };
}

function listCells(): readonly Cell[] {
  return WITH_GLOBALS.flatMap((globals) =>
    DELAYS_MS.map((delayMs) => createDelayCell(globals, delayMs)),
  );
}

function createDelayCell(globals: number, delayMs: number): Cell {
  return createCell({ wan: 'WAN 1', system: 'machine', globals, delayMs });
}

export function computeGoalResults(rows: readonly Row[]): readonly GoalResult[] {
  const change = (
    figure: 'localP99Ms' | 'localMeanMs' | 'globalP99Ms',
    globals: number,
    delayMs: number,
  ): number =>
    divideFigures(rows, figure, [
      createDelayCell(globals, delayMs),
      createDelayCell(globals, NONE),
    ]);
  return [
    limitTime('locals-p99-with-delay', change('localP99Ms', STATED_GLOBALS, STATED_MS), {
      aim: UNCHANGED,
    }),
    ...WITH_GLOBALS.flatMap((globals) =>
      DELAYS_MS.filter((delayMs) => delayMs > NONE).flatMap((delayMs) => [
        reported(`locals-p99-delay-${delayMs}-${globals}`, change('localP99Ms', globals, delayMs)),
        reported(
          `locals-mean-delay-${delayMs}-${globals}`,
          change('localMeanMs', globals, delayMs),
        ),
        reported(
          `globals-p99-delay-${delayMs}-${globals}`,
          change('globalP99Ms', globals, delayMs),
        ),
      ]),
    ),
  ];
}
