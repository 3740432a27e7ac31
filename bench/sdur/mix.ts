/**
 * What transactions over two partitions cost those of one partition: in the machine of the paper,
 * where a local waits behind a global, and in the product, where it leaps everything that it does
 * not overlap.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { atLeast, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import {
  createCell,
  divideFigures,
  getLatencies,
  GLOBALS,
  quantile,
  readFigure,
  runCells,
  toSlug,
  type Cell,
  type Row,
} from './cells.ts';
import { WANS, type Wan } from './systems/layouts.ts';
import type { LoadResult, SystemName } from './systems/run-load.ts';
import { GLOBAL, LOCAL } from './systems/workloads.ts';

const SYSTEMS: readonly SystemName[] = ['machine', 'product'];
const WITH_GLOBALS = GLOBALS.filter((globals) => globals > 0);
/** Percentages of rows that are one row, for what the product costs instead. */
const HOT = [0, 0.1, 0.3, 1] as const;
const HOT_GLOBALS = 10;
/**
 * The percentage of globals whose distribution is drawn, beside that without globals, as in the
 * paper.
 */
const DRAWN_GLOBALS = 10;
const QUANTILES = 100;
/** The paper: from 32.6 to 321 ms. */
const MACHINE_GROWTH = 4;
const PRODUCT_GROWTH = 1.5;

/** The quantiles of a distribution, from the smallest value to the largest. */
export interface Distribution {
  readonly wan: Wan;
  readonly system: SystemName;
  readonly series: string;
  readonly ms: readonly number[];
}

export interface MixSamples {
  readonly rows: readonly Row[];
  readonly distributions: readonly Distribution[];
}

export const sdurMix: Bench = {
  name: 'sdur-mix',
  about:
    'what transactions over two partitions cost those of one, beside the protocol of the paper, in virtual time',
  run,
};

async function run(settings: Settings): Promise<Outcome> {
  const distributions: Distribution[] = [];
  const rows = runCells(listCells(), settings, (cell, result) => {
    if (cell.hot === 0) distributions.push(...listDistributions(cell, result));
  });
  const samples: MixSamples = { rows, distributions };
  return {
    rounds: 1,
    rows: rows.map((row) => ({ ...row })),
    bars: computeGoalResults(rows),
    samples,
  };
}

function listCells(): readonly Cell[] {
  const mixes = WANS.flatMap((wan) =>
    SYSTEMS.flatMap((system) => GLOBALS.map((globals) => createCell({ wan, system, globals }))),
  );
  return [...mixes, ...HOT.filter((hot) => hot > 0).map(createHotCell)];
}

function createHotCell(hot: number): Cell {
  return createCell({ wan: 'WAN 1', system: 'product', globals: HOT_GLOBALS, hot });
}

function listDistributions(
  { wan, system, globals }: Cell,
  result: LoadResult,
): readonly Distribution[] {
  const [localMs, globalMs] = [getLatencies(result, LOCAL), getLatencies(result, GLOBAL)];
  const create = (series: string, values: readonly number[]): Distribution => ({
    wan,
    system,
    series,
    ms: Array.from(
      { length: QUANTILES + 1 },
      (_, index) => quantile(values, index / QUANTILES) ?? NaN,
    ),
  });
  if (globals === 0) return [create('locals, no globals', localMs)];
  if (globals !== DRAWN_GLOBALS) return [];
  return [
    create(`locals, ${globals} % globals`, localMs),
    create(`globals, ${globals} % globals`, globalMs),
  ];
}

export function computeGoalResults(rows: readonly Row[]): readonly GoalResult[] {
  const growth = (wan: Wan, system: SystemName, globals: number): number =>
    divideFigures(rows, 'localP99Ms', [
      createCell({ wan, system, globals }),
      createCell({ wan, system, globals: 0 }),
    ]);
  const product = WANS.flatMap((wan) =>
    WITH_GLOBALS.map((globals) => growth(wan, 'product', globals)),
  );
  return [
    atLeast('machine-local-p99-growth', growth('WAN 1', 'machine', 1), { aim: MACHINE_GROWTH }),
    limitTime('local-p99-vs-no-globals', Math.max(...product), { aim: PRODUCT_GROWTH }),
    ...SYSTEMS.flatMap((system) =>
      WANS.flatMap((wan) =>
        WITH_GLOBALS.map((globals) =>
          reported(
            `${system}-local-p99-vs-no-globals-${globals}-${toSlug(wan)}`,
            growth(wan, system, globals),
          ),
        ),
      ),
    ),
    ...computeCosts(rows),
  ];
}

/** What the product costs instead. */
function computeCosts(rows: readonly Row[]): readonly GoalResult[] {
  return [
    ...WANS.flatMap((wan) => {
      const cell = createCell({ wan, system: 'product', globals: HOT_GLOBALS });
      return [
        reported(
          `runs-per-operation-${toSlug(wan)}`,
          readFigure(rows, cell, 'runsPerOperation'),
          'runs',
        ),
        reported(`held-ms-${toSlug(wan)}`, readFigure(rows, cell, 'heldP50Ms'), 'ms'),
        reported(`held-ms-p99-${toSlug(wan)}`, readFigure(rows, cell, 'heldP99Ms'), 'ms'),
      ];
    }),
    ...HOT.filter((hot) => hot > 0).map((hot) =>
      reported(
        `runs-per-operation-hot-${hot}`,
        readFigure(rows, createHotCell(hot), 'runsPerOperation'),
        'runs',
      ),
    ),
  ];
}
