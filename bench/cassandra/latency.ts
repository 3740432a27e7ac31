/**
 * Single-request latency (Correctables, OSDI 2016, §6.2.1, Figure 5): reads of 100 bytes by a client 20 ms away from its
 * coordinator, for each quorum, with a preliminary view and without. Baseline: plain reads through `cassandra-driver`.
 */
import { atMost, type Bar, type Bench, type Outcome, type Settings } from '../harness/bench.ts';
import { rangesFigure } from '../harness/figure.ts';
import { rounded, spread } from '../harness/statistics.ts';
import { openCrew } from './crew.ts';
import { REPORTED, type System, type TurnsReport } from './messages.ts';
import { nameOf, wayOf } from './way.ts';

const PLAIN = ['driver C1', 'driver C2', 'driver C3'] as const satisfies readonly System[];
const INCREMENTAL = ['CC2', 'CC3'] as const satisfies readonly System[];
/** As near as this, in parts of the round trip to the coordinator or of the baseline, whichever is longer. */
const AIM = 1.05;
const ROUND_TRIP_MS = 20;

export const cassandraLatency: Bench = {
  name: 'cassandra-latency',
  about: 'single reads on Cassandra: preliminary and final views beside plain reads of one, two and three replicas',
  run,
};

async function run(settings: Settings): Promise<Outcome> {
  const { quick, progress } = settings;
  const way = wayOf(settings);
  const [rounds, turns] = quick ? [2, 10] : [5, 60];
  const crew = await openCrew({ sites: [REPORTED], way }, progress);
  const samples: TurnsReport[] = [];
  try {
    await crew.takeTurns({ systems: [...PLAIN, ...INCREMENTAL], turns: 10 });
    for (let round = 0; round < rounds; round += 1) {
      progress(`round ${round + 1} of ${rounds}: ${turns} reads of each system, by turns`);
      samples.push(await crew.takeTurns({ systems: [...PLAIN, ...INCREMENTAL], turns }));
    }
  } finally {
    await crew.close();
  }
  const rows = rowsOf(samples);
  const name = nameOf('cassandra-latency', way);
  return { name, rounds, rows, bars: barsOf(rows), samples, figures: { [name]: plot(rows) } };
}

interface Row extends Readonly<Record<string, unknown>> {
  readonly system: System;
  readonly view: 'only' | 'preliminary' | 'final';
  readonly avgMs: number;
  readonly avgMsMin: number;
  readonly avgMsMax: number;
  readonly p99Ms: number;
}

function rowsOf(samples: readonly TurnsReport[]): Row[] {
  const row = (system: System, view: Row['view'], valueOf: (read: Read) => number | null): Row => {
    const values = samples.map((round) => (round[system] ?? []).flatMap((read) => valueOf(read) ?? []));
    const all = values.flat().sort((a, b) => a - b);
    const { min, max } = spread(values.map(mean));
    return {
      system,
      view,
      avgMs: rounded(mean(all)),
      avgMsMin: rounded(min),
      avgMsMax: rounded(max),
      p99Ms: rounded(all[Math.ceil(0.99 * all.length) - 1] as number),
      reads: all.length,
    };
  };
  return [
    ...PLAIN.map((system) => row(system, 'only', ({ finalMs }) => finalMs)),
    ...INCREMENTAL.flatMap((system) => [
      row(system, 'preliminary', ({ preliminaryMs }) => preliminaryMs),
      row(system, 'final', ({ finalMs }) => finalMs),
    ]),
  ];
}

interface Read {
  readonly preliminaryMs: number | null;
  readonly finalMs: number;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function barsOf(rows: readonly Row[]): Bar[] {
  const avgMs = (system: System, view: Row['view']): number =>
    rows.find((row) => row.system === system && row.view === view)?.avgMs ?? NaN;
  const versus = (ms: number, baselineMs: number): number =>
    rounded(1 + (ms - baselineMs) / Math.max(baselineMs, ROUND_TRIP_MS));
  const [c1, c2, c3] = PLAIN.map((system) => avgMs(system, 'only')) as [number, number, number];
  const preliminaries = INCREMENTAL.map((system) => versus(avgMs(system, 'preliminary'), c1));
  return [
    atMost('prelim-vs-c1', Math.max(...preliminaries), AIM),
    atMost('final-vs-c2', versus(avgMs('CC2', 'final'), c2), AIM),
    atMost('final-vs-c3', versus(avgMs('CC3', 'final'), c3), AIM),
  ];
}

function plot(rows: readonly Row[]): string {
  const label = ({ system, view }: Row): string =>
    view === 'only' ? `${system.replace('driver ', '')}: plain read` : `${system}: ${view} view`;
  return rangesFigure(
    'Reads on Cassandra, client in IRL, coordinator in FRK',
    'milliseconds (average; line: up to the 99th percentile)',
    rows.map((row) => ({ label: label(row), median: row.avgMs, min: row.avgMs, max: Math.max(row.avgMs, row.p99Ms) })),
  );
}
