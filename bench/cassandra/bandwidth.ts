/**
 * Bytes per operation between client and coordinator (Correctables, OSDI 2016, §6.2.1, Figure 8): requests and answers on the
 * socket, reads and updates of records of 1 kB, under the load that makes views diverge, and driven until a quarter does.
 * Baseline: C1, reads of one replica; and a request for each view, all through the same client.
 */
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
import {
  barsOf,
  cellOf,
  driven,
  KINDS,
  rowOf,
  type Cell,
  type Kind,
  type Row,
  type Sample,
} from './bandwidth-cells.ts';
import { openCrew, type Crew } from './crew.ts';
import { MIXES } from './divergence.ts';
import { count } from './history.ts';
import { REPORTED, type LoadReport } from './messages.ts';
import { nameOf, wayOf } from './way.ts';

const SITES = ['irl', 'frk', 'vrg'] as const;

export const cassandraBandwidth: Bench = {
  name: 'cassandra-bandwidth',
  about: 'bytes per operation on Cassandra with incremental views, against reads of one replica, beside divergence',
  run,
};

interface Times {
  readonly durationMs: number;
  readonly warmUpMs: number;
}

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = wayOf(settings);
  const [rounds, durationMs, warmUpMs] = quick ? [2, 2_000, 500] : [6, 5_000, 1_000];
  const times = { durationMs, warmUpMs };
  const crew = await openCrew({ sites: SITES, way, countBytes: true }, progress);
  const samples: Sample[] = [];
  const cells = MIXES.map(cellOf);
  try {
    cells.push(await drivenOn(crew, times, progress));
    const contests = cells.flatMap((cell) => KINDS.map((kind) => ({ ...cell, kind })));
    for (let round = 0; round < rounds; round += 1) {
      for (let place = 0; place < contests.length; place += 1) {
        const { kind, ...cell } = contests[(place + round) % contests.length] as (typeof contests)[number];
        progress(`round ${round + 1} of ${rounds}: ${labelOf(cell)}, ${kind}`);
        const { bytes, operations, divergence } = await measure(crew, cell, kind, { ...times, seed: 1 + round });
        samples.push({ ...cell, kind, round, bytesPerOp: bytes / operations, divergence });
      }
    }
  } finally {
    await crew.close();
  }
  const measured = cells.map((cell) => rowOf(cell, samples));
  const name = nameOf('cassandra-bandwidth', way);
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds,
    rows: measured.map(flat),
    bars: barsOf(measured),
    samples,
    figures: { [name]: plot(measured) },
  };
}

/** Fewer records, until enough views diverge. */
function drivenOn(crew: Crew, times: Times, progress: Settings['progress']): Promise<Cell> {
  return driven(async (cell) => {
    const divergence = (await measure(crew, cell, 'CC2', { ...times, seed: 0 })).divergence ?? 0;
    progress(`${labelOf(cell)}: ${(100 * divergence).toFixed(1)} % diverge`);
    return divergence;
  });
}

type Measured = Pick<LoadReport, 'operations'> & { readonly bytes: number; readonly divergence: number | null };

async function measure(crew: Crew, cell: Cell, system: Kind, times: Times & { seed: number }): Promise<Measured> {
  const { driven: _, ...load } = cell;
  const reports = await crew.load({ ...load, ...times, record: true, system });
  const report = reports.get(REPORTED);
  if (report === undefined || report.bytes === null) throw new Error('nobody counted the bytes');
  const { preliminaries, diverged } = count(report.history);
  const divergence = preliminaries === 0 ? null : diverged / preliminaries;
  return { bytes: report.bytes, operations: report.operations, divergence };
}

function labelOf({ workload, distribution, records, driven: isDriven }: Cell): string {
  return `workload ${workload}, ${distribution}${isDriven ? `, ${records} records` : ''}`;
}

/** As plain columns: an estimate by its value, and between what it surely is. */
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

function plot(rows: readonly Row[]): string {
  const ranges = rows.flatMap((row) =>
    (
      [
        ['C1', row.c1Bytes],
        [`CC2, ${(100 * row.divergence.value).toFixed(1)} % diverge`, row.cc2Bytes],
        ['two requests', row.twoRequestsBytes],
      ] as const
    ).map(([kind, bytes]) => ({
      label: `${row.workload}, ${row.driven ? `${row.records} records` : row.distribution}: ${kind}`,
      median: bytes,
      min: bytes,
      max: bytes,
    })),
  );
  return rangesFigure('Bytes per operation, client in IRL, coordinator in FRK', 'bytes, requests and answers', ranges);
}
