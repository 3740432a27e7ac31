/**
 * Bytes per operation between client and coordinator (Correctables, OSDI 2016, §6.2.1, Figure 8): requests and answers on the
 * socket, reads and updates of records of 1 kB, under the load that makes views diverge. Baseline: C1, reads of one replica.
 */
import { atLeast, reported, type Bar, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { openCrew } from './crew.ts';
import { MIXES, type Mix } from './divergence.ts';
import { count } from './history.ts';
import { REPORTED, type System } from './messages.ts';
import { nameOf, wayOf } from './way.ts';
import { RECORDS } from './ycsb-table.ts';

const SITES = ['irl', 'frk', 'vrg'] as const;
const IN_FLIGHT = 48;
/** More than the paper's 27 % and 15 % would be no progress. */
const AIMS = { A: 0.27, B: 0.15 } as const;
/** With less, a mix in which views should diverge says nothing about what that costs. */
const DIVERGENCE_MIN = 0.05;

/** The last: a request for each view, as any client can. */
const KINDS = ['C1', 'CC2', 'CC2 twice'] as const satisfies readonly System[];
type Kind = (typeof KINDS)[number];

export const cassandraBandwidth: Bench = {
  name: 'cassandra-bandwidth',
  about: 'bytes per operation on Cassandra with incremental views, against reads of one replica, beside divergence',
  run,
};

interface Sample extends Mix {
  readonly kind: Kind;
  readonly round: number;
  readonly bytesPerOp: number;
  readonly divergence: number | null;
}

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = wayOf(settings);
  const [rounds, durationMs, warmUpMs] = quick ? [2, 2_000, 500] : [5, 5_000, 1_000];
  const crew = await openCrew({ sites: SITES, way, countBytes: true }, progress);
  const samples: Sample[] = [];
  try {
    const cells = MIXES.flatMap((mix) => KINDS.map((kind) => ({ ...mix, kind })));
    for (let round = 0; round < rounds; round += 1) {
      for (let place = 0; place < cells.length; place += 1) {
        const cell = cells[(place + round) % cells.length] as (typeof cells)[number];
        progress(`round ${round + 1} of ${rounds}: workload ${cell.workload}, ${cell.distribution}, ${cell.kind}`);
        const load = { inFlight: IN_FLIGHT, records: RECORDS, record: true, durationMs, warmUpMs, seed: 1 + round };
        const { workload, distribution, kind } = cell;
        const reports = await crew.load({ ...load, workload, distribution, system: kind });
        const report = reports.get(REPORTED);
        if (report === undefined || report.bytes === null) throw new Error('nobody counted the bytes');
        const { preliminaries, diverged } = count(report.history);
        const divergence = preliminaries === 0 ? null : diverged / preliminaries;
        samples.push({ ...cell, round, bytesPerOp: report.bytes / report.operations, divergence });
      }
    }
  } finally {
    await crew.close();
  }
  const rows = MIXES.map((mix) => rowOf(mix, samples));
  const name = nameOf('cassandra-bandwidth', way);
  return { name, rounds, rows, bars: barsOf(rows), samples, figures: { [name]: plot(rows) } };
}

type Row = ReturnType<typeof rowOf>;

function rowOf({ workload, distribution }: Mix, samples: readonly Sample[]) {
  const own = samples.filter((sample) => sample.workload === workload && sample.distribution === distribution);
  const of = (kind: Kind, valueOf: (sample: Sample) => number | null): number[] =>
    own.filter((sample) => sample.kind === kind).flatMap((sample) => valueOf(sample) ?? []);
  const bytes = (kind: Kind): number[] => of(kind, ({ bytesPerOp }) => bytesPerOp);
  const baseline = bytes('C1');
  const overhead = (kind: Kind): ReturnType<typeof spread> =>
    spread(bytes(kind).map((each, round) => each / (baseline[round] as number) - 1));
  const { median, min, max } = overhead('CC2');
  return {
    workload,
    distribution,
    c1Bytes: Math.round(spread(baseline).median),
    cc2Bytes: Math.round(spread(bytes('CC2')).median),
    twoRequestsBytes: Math.round(spread(bytes('CC2 twice')).median),
    overhead: rounded(median),
    overheadMin: rounded(min),
    overheadMax: rounded(max),
    twoRequestsOverhead: rounded(overhead('CC2 twice').median),
    divergence: rounded(spread(of('CC2', ({ divergence }) => divergence)).median),
  };
}

function barsOf(rows: readonly Row[]): Bar[] {
  const rowFor = (workload: string): Row => {
    const found = rows.find((row) => row.workload === workload && row.distribution === 'latest');
    if (found === undefined) throw new Error(`workload ${workload} was not measured`);
    return found;
  };
  const [a, b] = [rowFor('A'), rowFor('B')];
  const below = (name: string, value: number, aim: number): Bar => ({
    name,
    value,
    unit: 'fraction',
    aim,
    ok: value < aim && (name !== 'bytes-overhead-A' || a.divergence >= DIVERGENCE_MIN),
  });
  return [
    below('bytes-overhead-A', a.overhead, AIMS.A),
    below('bytes-overhead-B', b.overhead, AIMS.B),
    atLeast('divergence-A-latest', a.divergence, DIVERGENCE_MIN, 'fraction'),
    ...rows
      .filter(({ distribution }) => distribution === 'zipfian')
      .map(({ workload, overhead }) => reported(`bytes-overhead-${workload}-zipfian`, overhead, 'fraction')),
  ];
}

function plot(rows: readonly Row[]): string {
  const ranges = rows.flatMap(({ workload, distribution, c1Bytes, cc2Bytes, twoRequestsBytes, divergence }) =>
    (
      [
        ['C1', c1Bytes],
        [`CC2, ${(100 * divergence).toFixed(1)} % diverge`, cc2Bytes],
        ['two requests', twoRequestsBytes],
      ] as const
    ).map(([kind, bytes]) => ({
      label: `${workload}, ${distribution}: ${kind}`,
      median: bytes,
      min: bytes,
      max: bytes,
    })),
  );
  return rangesFigure('Bytes per operation, client in IRL, coordinator in FRK', 'bytes, requests and answers', ranges);
}
