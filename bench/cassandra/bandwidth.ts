/**
 * Bytes per operation between client and coordinator (Correctables, OSDI 2016, §6.2.1, Figure 8):
 * requests and answers on the socket, reads and updates of records of 1 kB, under the load at which
 * views diverge, and with contention raised until a quarter of the views diverges. Baseline: C1,
 * reads of one replica; and a request for each view, all through the same client.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import {
  computeGoalResults,
  cellOf,
  driven,
  rowOf,
  type Cell,
  type Kind,
  type Row,
  type Sample,
} from './bandwidth-cells.ts';
import { measureRounds, type Extent, type Measuring } from './bandwidth-rounds.ts';
import { openClientPool, type ClientPool } from './client-pool.ts';
import { MIXES } from './divergence.ts';
import { count } from './history.ts';
import { REPORTED, type LoadReport } from './messages.ts';
import { nameOf, getReadStrategy } from './read-strategy.ts';

const SITES = ['ireland', 'frankfurt', 'virginia'] as const;

export const cassandraBandwidth: Bench = {
  name: 'cassandra-bandwidth',
  about:
    'bytes per operation on Cassandra with incremental views, against reads of one replica, beside divergence',
  takes: ['way'],
  run,
};

interface Times {
  readonly durationMs: number;
  readonly warmUpMs: number;
}

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = getReadStrategy(settings);
  const times = quick
    ? { durationMs: 2_000, warmUpMs: 500 }
    : { durationMs: 5_000, warmUpMs: 1_000 };
  const extent: Extent = quick ? { rounds: 2, looks: 1 } : { rounds: 7 };
  const crew = await openClientPool({ sites: SITES, way, countBytes: true }, progress);
  const cells = MIXES.map(cellOf);
  let rounds: readonly (readonly Sample[])[];
  try {
    cells.push(await drivenOn(crew, times, progress));
    const measured: Measuring['measure'] = async ({ kind, round, ...cell }) => {
      const { bytes, operations, divergence } = await measure(crew, cell, kind, {
        ...times,
        seed: 1 + round,
      });
      return { bytesPerOp: bytes / operations, divergence };
    };
    const reported = (cell: Cell, text: string): void => progress(`${text}: ${labelOf(cell)}`);
    rounds = await measureRounds(cells, { ...extent, measure: measured, progress: reported });
  } finally {
    await crew.close();
  }
  const samples = rounds.flat();
  const measured = cells.map((cell) => rowOf(cell, samples));
  const name = nameOf('cassandra-bandwidth', way);
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds: rounds.length,
    rows: measured.map(flat),
    bars: computeGoalResults(measured),
    samples,
  };
}

/** Reduces the number of records until enough views diverge. */
function drivenOn(crew: ClientPool, times: Times, progress: Settings['progress']): Promise<Cell> {
  return driven(async (cell) => {
    const divergence = (await measure(crew, cell, 'CC2', { ...times, seed: 0 })).divergence ?? 0;
    progress(`${labelOf(cell)}: ${(100 * divergence).toFixed(1)} % diverge`);
    return divergence;
  });
}

type Measured = Pick<LoadReport, 'operations'> & {
  readonly bytes: number;
  readonly divergence: number | null;
};

async function measure(
  crew: ClientPool,
  cell: Cell,
  system: Kind,
  times: Times & { seed: number },
): Promise<Measured> {
  const { driven: _, ...load } = cell;
  const reports = await crew.load({ ...load, ...times, record: true, system });
  const report = reports.get(REPORTED);
  if (report === undefined || report.bytes === null) throw new Error('the bytes were not counted');
  const { preliminaries, diverged } = count(report.history);
  const divergence = preliminaries === 0 ? null : diverged / preliminaries;
  return { bytes: report.bytes, operations: report.operations, divergence };
}

function labelOf({ workload, distribution, records, driven: isDriven }: Cell): string {
  return `workload ${workload}, ${distribution}${isDriven ? `, ${records} records` : ''}`;
}

/** Converts a row to plain columns: each estimate becomes its value and its interval. */
function flat(row: Row): Record<string, unknown> {
  const columns = Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
    typeof value !== 'object'
      ? [[name, value]]
      : [
          [name, value.value],
          [`${name}Low`, value.low],
          [`${name}High`, value.high],
        ],
  );
  return Object.fromEntries(columns);
}
