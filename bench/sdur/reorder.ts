/** How much the paper's reordering helps locals, and what it costs globals, for thresholds R. */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { atLeast, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import {
  createCell,
  divideFigures,
  GLOBALS,
  runCells,
  toSlug,
  type Cell,
  type Row,
} from './cells.ts';
import { WANS, type Wan } from './systems/layouts.ts';

export const THRESHOLDS = [0, 80, 160, 320] as const;
const [NONE, LEAST, , MOST] = THRESHOLDS;
const WITH_GLOBALS = GLOBALS.filter((globals) => globals > 0);
const UNCHANGED = 1;

export const sdurReorder: Bench = {
  name: 'sdur-reorder',
  about:
    'locals that leap pending globals in the protocol of the paper, for each threshold, in virtual time',
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
  return WANS.flatMap((wan) => [
    ...WITH_GLOBALS.flatMap((globals) =>
      THRESHOLDS.map((threshold) => createCell({ wan, system: 'machine', globals, threshold })),
    ),
    createProductCell(wan),
  ]);
}

/** The product has no threshold, so one run is enough to compare with. */
export function createProductCell(wan: Wan): Cell {
  return createCell({ wan, system: 'product', globals: 10 });
}

export function computeGoalResults(rows: readonly Row[]): readonly GoalResult[] {
  const change = (
    figure: 'localP99Ms' | 'globalP99Ms',
    {
      wan,
      globals,
      threshold,
    }: { readonly wan: Wan; readonly globals: number; readonly threshold: number },
  ): number => {
    const cell = (value: number): Cell =>
      createCell({ wan, system: 'machine', globals, threshold: value });
    return divideFigures(rows, figure, [cell(threshold), cell(NONE)]);
  };
  const most = (figure: 'localP99Ms' | 'globalP99Ms', wan: Wan): readonly number[] =>
    WITH_GLOBALS.map((globals) => change(figure, { wan, globals, threshold: MOST }));
  return [
    limitTime('locals-p99-with-reordering-wan-1', Math.max(...most('localP99Ms', 'WAN 1')), {
      aim: UNCHANGED,
    }),
    atLeast('globals-p99-with-reordering-wan-2', Math.min(...most('globalP99Ms', 'WAN 2')), {
      aim: UNCHANGED,
    }),
    ...WANS.flatMap((wan) =>
      WITH_GLOBALS.flatMap((globals) =>
        [LEAST, MOST].flatMap((threshold) => {
          const of = `${threshold}-${globals}-${toSlug(wan)}`;
          return [
            reported(`locals-p99-r-${of}`, change('localP99Ms', { wan, globals, threshold })),
            reported(`globals-p99-r-${of}`, change('globalP99Ms', { wan, globals, threshold })),
          ];
        }),
      ),
    ),
  ];
}
