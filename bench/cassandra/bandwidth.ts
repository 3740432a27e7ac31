/**
 * Bytes per operation between client and coordinator (Correctables, OSDI 2016, §6.2.1, Figure 8): requests and answers on the
 * socket, reads and updates of records of 1 kB, under the load that makes views diverge. Baseline: C1, reads of one replica.
 */
import { atLeast, atMost, estimate, reported, type Bar, type Estimate } from '../harness/bars.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { spread } from '../harness/statistics.ts';
import { versionOfEngine, versionsOf } from '../harness/provenance.ts';
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
  const [rounds, durationMs, warmUpMs] = quick ? [2, 2_000, 500] : [6, 5_000, 1_000];
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
  return {
    name,
    versions: { ...versionOfEngine('cassandra'), ...versionsOf('cassandra-driver') },
    rounds,
    rows,
    bars: barsOf(rows),
    samples,
    figures: { [name]: plot(rows) },
  };
}

type Row = ReturnType<typeof rowOf>;

function rowOf({ workload, distribution }: Mix, samples: readonly Sample[]) {
  const own = samples.filter((sample) => sample.workload === workload && sample.distribution === distribution);
  const of = (kind: Kind, valueOf: (sample: Sample) => number | null): number[] =>
    own.filter((sample) => sample.kind === kind).flatMap((sample) => valueOf(sample) ?? []);
  const bytes = (kind: Kind): number[] => of(kind, ({ bytesPerOp }) => bytesPerOp);
  const baseline = bytes('C1');
  const overhead = (kind: Kind): Estimate =>
    estimate(bytes(kind).map((each, round) => each / (baseline[round] as number) - 1));
  const { value, low, high, samples: rounds } = overhead('CC2');
  const divergence = estimate(of('CC2', (sample) => sample.divergence));
  return {
    workload,
    distribution,
    c1Bytes: Math.round(spread(baseline).median),
    cc2Bytes: Math.round(spread(bytes('CC2')).median),
    twoRequestsBytes: Math.round(spread(bytes('CC2 twice')).median),
    rounds,
    overhead: value,
    overheadLow: low,
    overheadHigh: high,
    twoRequestsOverhead: overhead('CC2 twice').value,
    divergence: divergence.value,
    divergenceLow: divergence.low,
    divergenceHigh: divergence.high,
  };
}

function barsOf(rows: readonly Row[]): Bar[] {
  const rowFor = (workload: string): Row => {
    const found = rows.find((row) => row.workload === workload && row.distribution === 'latest');
    if (found === undefined) throw new Error(`workload ${workload} was not measured`);
    return found;
  };
  const [a, b] = [rowFor('A'), rowFor('B')];
  const overhead = ({ overhead: value, overheadLow: low, overheadHigh: high, rounds }: Row): Estimate => ({
    value,
    low,
    high,
    samples: rounds,
  });
  const diverged = { value: a.divergence, low: a.divergenceLow, high: a.divergenceHigh, samples: a.rounds };
  const enough = atLeast('divergence-A-latest', diverged, { aim: DIVERGENCE_MIN }, 'fraction');
  const ofA = atMost('bytes-overhead-A', overhead(a), { aim: AIMS.A }, 'fraction');
  return [
    // Where hardly anything diverged, little was sent twice, and that it was little says nothing.
    ofA.verdict === 'met' && enough.verdict !== 'met' ? { ...ofA, verdict: 'undecided' } : ofA,
    atMost('bytes-overhead-B', overhead(b), { aim: AIMS.B }, 'fraction'),
    enough,
    ...rows
      .filter(({ distribution }) => distribution === 'zipfian')
      .map((row) => reported(`bytes-overhead-${row.workload}-zipfian`, overhead(row), 'fraction')),
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
