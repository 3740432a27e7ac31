/** One setting of a system under load, and the figures that are written for it. */
import type { Settings } from '../harness/bench.ts';
import { mean, rounded } from '../harness/statistics.ts';
import type { Wan } from './systems/layouts.ts';
import { runLoad, type LoadOptions, type LoadResult, type SystemName } from './systems/run-load.ts';
import { createUpdates, GLOBAL, HOT_LOCAL, LOCAL } from './systems/workloads.ts';

export interface Cell {
  readonly wan: Wan;
  readonly system: SystemName;
  /** The percentage of transactions with rows in both partitions. */
  readonly globals: number;
  /** The percentage of rows of the first partition that are one row. */
  readonly hot: number;
  /** The reordering threshold R, and the delay Δ. Both are 0 in the product, which has neither. */
  readonly threshold: number;
  readonly delayMs: number;
}

/** Latencies of a kind of transactions. `null`: none was of this kind. */
interface Figures {
  readonly perSecond: number;
  readonly utilization: number;
  readonly localMeanMs: number | null;
  readonly localP50Ms: number | null;
  readonly localP99Ms: number | null;
  readonly globalMeanMs: number | null;
  readonly globalP50Ms: number | null;
  readonly globalP99Ms: number | null;
  readonly hotLocalP50Ms: number | null;
  readonly hotLocalP99Ms: number | null;
  /** The percentage of transactions that have aborted. */
  readonly aborted: number;
  readonly runsPerOperation: number;
  readonly heldP50Ms: number | null;
  readonly heldP99Ms: number | null;
}

export interface Row extends Cell, Figures {}

export const GLOBALS = [0, 1, 10, 50] as const;

/** The text below each plot of these benchmarks. */
export const CIRCUMSTANCES =
  'All servers, links and clients run in one process in virtual time, on two processors. Links have constant delays: 90, 100 and 170 ms one way between regions, 1 ms within. A server works 0.2 ms for each record of a log. Each system has 75 % of the load at which its servers never rest. The machine of the paper is a reconstruction. One run for each point.';

export function createCell(change: Pick<Cell, 'wan' | 'system' | 'globals'> & Partial<Cell>): Cell {
  return { hot: 0, threshold: 0, delayMs: 0, ...change };
}

/**
 * How long a system is measured, in milliseconds of virtual time. A run depends on its seed alone,
 * so it is not repeated. The product takes more time on this machine.
 */
const DURATION_MS: Readonly<Record<SystemName, number>> = { machine: 2_000, product: 1_000 };
const WARM_UP_MS = 500;
const QUICK_MS = 100;
const SEED = 1;

/** Returns how long a system runs, and the seed. */
export function planRun(
  system: SystemName,
  quick: boolean,
): Pick<LoadOptions, 'seed' | 'warmUpMs' | 'durationMs'> {
  return {
    seed: SEED,
    warmUpMs: quick ? QUICK_MS : WARM_UP_MS,
    durationMs: quick ? QUICK_MS : DURATION_MS[system],
  };
}

/** Runs the cells one after the other, and returns a row for each. */
export function runCells(
  cells: readonly Cell[],
  { quick, progress }: Pick<Settings, 'quick' | 'progress'>,
  onResult: (cell: Cell, result: LoadResult) => void = () => {},
): readonly Row[] {
  return cells.map((cell) => {
    const { wan, system, globals, hot, threshold, delayMs } = cell;
    progress(
      `${wan}, ${system}, ${globals} % globals, ${hot} % on one row, R = ${threshold}, Δ = ${delayMs} ms`,
    );
    const workload = createUpdates({ globals: globals / 100, hot: hot / 100 });
    const result = runLoad({
      wan,
      system,
      threshold,
      delayMs,
      workload,
      ...planRun(system, quick),
    });
    onResult(cell, result);
    return createRow(cell, result);
  });
}

function createRow(cell: Cell, result: LoadResult): Row {
  const { heldMs } = result;
  const [localMs, globalMs, hotLocalMs] = [LOCAL, GLOBAL, HOT_LOCAL].map((kind) =>
    getLatencies(result, kind),
  ) as [readonly number[], readonly number[], readonly number[]];
  return {
    ...cell,
    perSecond: Math.round(result.perSecond),
    utilization: rounded(result.utilization),
    localMeanMs: meanOf(localMs),
    localP50Ms: quantile(localMs, 0.5),
    localP99Ms: quantile(localMs, 0.99),
    globalMeanMs: meanOf(globalMs),
    globalP50Ms: quantile(globalMs, 0.5),
    globalP99Ms: quantile(globalMs, 0.99),
    hotLocalP50Ms: quantile(hotLocalMs, 0.5),
    hotLocalP99Ms: quantile(hotLocalMs, 0.99),
    aborted: rounded(100 * result.aborted),
    runsPerOperation: rounded(result.runsPerOperation),
    heldP50Ms: quantile(heldMs, 0.5),
    heldP99Ms: quantile(heldMs, 0.99),
  };
}

/** Returns the latencies of the transactions of a kind, in ascending order. */
export function getLatencies({ latenciesMs }: LoadResult, kind: string): readonly number[] {
  return latenciesMs.get(kind) ?? [];
}

/** Returns the value below which this share of the ascending values is. */
export function quantile(ascending: readonly number[], share: number): number | null {
  const value = ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))];
  return value === undefined ? null : rounded(value);
}

export function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : rounded(mean(values));
}

export function selectRows(rows: readonly Row[], wanted: Partial<Cell>): readonly Row[] {
  return rows.filter((row) =>
    Object.entries(wanted).every(([name, value]) => row[name as keyof Row] === value),
  );
}

type FigureName = keyof Figures;

/** Returns a figure of a cell. Throws if there is none. */
export function readFigure(rows: readonly Row[], cell: Cell, name: FigureName): number {
  const [value] = selectRows(rows, cell).map((row) => row[name]);
  if (value === undefined || value === null)
    throw new Error(`no ${name} of ${JSON.stringify(cell)}`);
  return value;
}

/** Returns a figure of a cell, divided by that of another one. */
export function divideFigures(
  rows: readonly Row[],
  name: FigureName,
  [cell, baseline]: readonly [Cell, Cell],
): number {
  return rounded(readFigure(rows, cell, name) / readFigure(rows, baseline, name));
}

/** Names a deployment in the name of a figure: `wan-1`. */
export function toSlug(wan: Wan): string {
  return wan.toLowerCase().replace(' ', '-');
}
