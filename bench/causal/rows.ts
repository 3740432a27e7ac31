/** The rows that are written for each closed loop, and functions that read them. */
import { rounded } from '../harness/statistics.ts';
import type { LoopResult, SystemName } from './systems/closed-loop.ts';
import { fitLine, type CurvePoint, type LineFit } from '../harness/fit-line.ts';
import { interpolate } from './curves.ts';
import type { Curve, FigureName } from './settings.ts';

export interface Row {
  readonly figure: FigureName;
  readonly sites: number;
  readonly system: SystemName;
  /** The number of clients at each site. */
  readonly clients: number;
  readonly writes: number;
  readonly partitionsPerRead: number;
  readonly valueBytes: number;
  readonly skew: number;
  readonly perSecond: number;
  readonly readMeanMs: number;
  readonly readP95Ms: number;
  readonly readP99Ms: number;
  readonly putMeanMs: number;
  readonly putP95Ms: number;
  /**
   * Server time of one read. The next fields are that of one put, and that of the background work
   * for each operation.
   */
  readonly usPerRead: number;
  readonly usPerPut: number;
  readonly usInBackground: number;
  readonly messagesPerRead: number;
  readonly messagesPerPut: number;
  readonly bytesPerRead: number;
  readonly bytesPerPut: number;
  /** The number of read ids in a readers check. */
  readonly ids: number;
  readonly distinctIds: number;
  readonly askedPartitions: number;
  readonly utilization: number;
  readonly blockedReads: number;
  readonly longReads: number;
}

export type RowKey = Pick<Row, 'system'> & Partial<Row>;

export function createRow(
  { figure, siteCount, workload }: Curve,
  { system, clients }: Pick<Row, 'system' | 'clients'>,
  { perSecond, read, put, costs, check, utilization, blockedReads, longReads }: LoopResult,
): Row {
  const figures = {
    perSecond,
    readMeanMs: read.meanMs,
    readP95Ms: read.p95Ms,
    readP99Ms: read.p99Ms,
    putMeanMs: put.meanMs,
    putP95Ms: put.p95Ms,
    usPerRead: costs.read.serviceUs,
    usPerPut: costs.put.serviceUs,
    usInBackground: costs.background.serviceUs,
    messagesPerRead: costs.read.messages,
    messagesPerPut: costs.put.messages,
    bytesPerRead: costs.read.bytes,
    bytesPerPut: costs.put.bytes,
    ids: check.all,
    distinctIds: check.distinct,
    askedPartitions: check.partitions,
    utilization: Math.min(1, utilization),
    blockedReads,
    longReads,
  };
  const short = Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, rounded(value)]),
  );
  return { figure, sites: siteCount, system, clients, ...workload, ...(short as typeof figures) };
}

/** Returns the rows with these values, in their order. */
export function selectRows(rows: readonly Row[], wanted: RowKey): readonly Row[] {
  return rows.filter((row) =>
    Object.entries(wanted).every(([name, value]) => row[name as keyof Row] === value),
  );
}

/** Returns the row with these values. Throws if there is none. */
export function findRow(rows: readonly Row[], wanted: RowKey): Row {
  const [row] = selectRows(rows, wanted);
  if (row === undefined) throw new Error(`no row ${JSON.stringify(wanted)}`);
  return row;
}

/** Returns the highest throughput. */
export function findPeak(rows: readonly Row[], wanted: RowKey): number {
  return Math.max(...selectRows(rows, wanted).map(({ perSecond }) => perSecond));
}

/** Returns the points of a curve: a figure over the throughput. */
export function createCurvePoints(
  rows: readonly Row[],
  wanted: RowKey,
  figure: 'readMeanMs' | 'readP95Ms' | 'readP99Ms' | 'putMeanMs' | 'clients',
): readonly CurvePoint[] {
  return selectRows(rows, wanted).map((row) => ({ x: row.perSecond, y: row[figure] }));
}

/** Returns how many clients are needed for a throughput, as an integer. */
export function findClientsFor(rows: readonly Row[], wanted: RowKey, perSecond: number): number {
  return Math.max(
    1,
    Math.round(interpolate(createCurvePoints(rows, wanted, 'clients'), perSecond)),
  );
}

/** Fits the ids of a readers check to the number of clients. */
export function fitIds(rows: readonly Row[], figure: 'ids' | 'distinctIds'): LineFit {
  const cclo = selectRows(rows, { system: 'cc-lo', figure: 'default', sites: 1 });
  return fitLine(cclo.map((row) => ({ x: row.clients, y: row[figure] })));
}
