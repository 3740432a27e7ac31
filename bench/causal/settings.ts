/** The workloads, systems and numbers of clients that are run. */
import { SYSTEMS, type SystemName } from './systems/closed-loop.ts';
import { DEFAULT_WORKLOAD, type Workload } from './systems/workload.ts';

export const FIGURES = ['default', 'writes', 'skew', 'size', 'values'] as const;
export type FigureName = (typeof FIGURES)[number];

/**
 * The values of the paper's Table 1, except for the number of partitions: the paper has up to 45,
 * and this benchmark has 32.
 */
export const KEYS_OF_PARTITION = 1_000_000;
export const WRITES = [0.01, 0.05, 0.1];
export const SKEWS = [0, 0.8, 0.99];
export const SIZES = [4, 8, 24];
export const VALUE_BYTES = [8, 128, 2_048];

/** The two numbers of clients between which the cost of a put is compared. */
export const [FEW_CLIENTS, MANY_CLIENTS] = [8, 256];

export interface Curve {
  readonly figure: FigureName;
  readonly workload: Workload;
  readonly siteCount: number;
  readonly systems: readonly SystemName[];
  /** Clients at each site. */
  readonly clients: readonly number[];
}

const PAPER_SYSTEMS = ['contrarian', 'cc-lo'] as const;
const VARIED_CLIENTS = [1, 64, 256];

/**
 * Returns the curves of a full run. The default workload provides one point of each other figure.
 */
export function listCurves(quick: boolean): readonly Curve[] {
  if (quick) return [{ ...createCurve('default', {}), systems: SYSTEMS, clients: [1, 8, 64] }];
  const others = <T extends number>(values: readonly T[], usual: T): readonly T[] =>
    values.filter((value) => value !== usual);
  const { writes, skew, partitionsPerRead, valueBytes } = DEFAULT_WORKLOAD;
  return [
    { ...createCurve('default', {}), systems: SYSTEMS, clients: [1, 8, 32, 64, 128, 256] },
    { ...createCurve('default', {}), systems: SYSTEMS, siteCount: 3, clients: [1, 16, 64, 128] },
    ...others(WRITES, writes).map((value) => createCurve('writes', { writes: value })),
    ...others(SKEWS, skew).map((value) => createCurve('skew', { skew: value })),
    ...others(SIZES, partitionsPerRead).map((value) =>
      createCurve('size', { partitionsPerRead: value }),
    ),
    ...others(VALUE_BYTES, valueBytes).map((value) => createCurve('values', { valueBytes: value })),
  ];
}

function createCurve(figure: FigureName, change: Partial<Workload>): Curve {
  const workload = { ...DEFAULT_WORKLOAD, ...change };
  return { figure, workload, siteCount: 1, systems: PAPER_SYSTEMS, clients: VARIED_CLIENTS };
}
