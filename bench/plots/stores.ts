/** Plots of Cassandra and ZooKeeper through their bindings. */
import { groupBy } from '../harness/group-by.ts';
import type { Report } from '../harness/results.ts';
import { bandwidthFigure, type Row as QueueRow } from './queue-bytes.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { linesFigure, type Point } from './lines.ts';
import { barOf, dotsOf, rowsOf } from './read.ts';
import { describeLines, describeLoads, spreadOf } from './spread.ts';
import { BLUE, capitalize, GREY, INK, ORANGE, short, VIOLET, type Drawn } from './svg.ts';

const percent = (share: number): string => `${short(100 * share)} %`;

interface ReadRow {
  readonly system: string;
  readonly view: string;
  readonly avgMs: number;
  readonly avgMsMin: number;
  readonly avgMsMax: number;
}

const READS: Readonly<Record<string, { readonly label: string; readonly color: string }>> = {
  'driver C1 only': { label: 'driver, 1 replica', color: GREY },
  'CC2 preliminary': { label: 'Correctable of 2 replicas, preliminary', color: BLUE },
  'CC3 preliminary': { label: 'Correctable of 3 replicas, preliminary', color: BLUE },
  'driver C2 only': { label: 'driver, 2 replicas', color: GREY },
  'CC2 final': { label: 'Correctable of 2 replicas, final', color: VIOLET },
  'driver C3 only': { label: 'driver, 3 replicas', color: GREY },
  'CC3 final': { label: 'Correctable of 3 replicas, final', color: VIOLET },
};

export function drawReads(report: Report, name: string): Drawn {
  const rows = rowsOf<ReadRow>(report);
  const of = (key: string): ReadRow | undefined =>
    rows.find(({ system, view }) => `${system} ${view}` === key);
  const ms = (key: string): string => short(of(key)?.avgMs ?? NaN);
  const dots = Object.entries(READS).flatMap(([key, look]): Dot[] => {
    const row = of(key);
    return row === undefined
      ? []
      : [{ ...look, value: row.avgMs, low: row.avgMsMin, high: row.avgMsMax }];
  });
  const drawn = intervalsFigure({
    title: `A preliminary view after ${ms('CC2 preliminary')} ms, like a read of one replica; the final one after ${ms('CC2 final')} ms, like a read of two`,
    note: 'Mean time of a read on Cassandra, client in Ireland, coordinator in Frankfurt: median and range of the rounds.',
    see: 'Each view arrives as soon as a plain read of as many replicas. Reading both views delays neither.',
    axis: 'milliseconds',
    better: 'lower',
    legend: { 'plain read': GREY, 'preliminary view': BLUE, 'final view': VIOLET },
    dots,
  });
  return { [name]: drawn };
}

export function drawDivergence(report: Report, name: string): Drawn {
  const names = {
    'divergence-A-latest': 'half writes, newest records',
    'divergence-A-zipfian': 'half writes, popular records',
    'divergence-B-latest': '5 % writes, newest records',
    'divergence-B-zipfian': '5 % writes, popular records',
  };
  const toPercent = ({ value, low, high, ...dot }: Dot): Dot => ({
    ...dot,
    value: 100 * value,
    low: 100 * (low ?? value),
    high: 100 * (high ?? value),
  });
  const of = (bar: string): string => percent(barOf(report, bar).value);
  const drawn = intervalsFigure({
    title: `From ${short(100 * barOf(report, 'divergence-B-zipfian').value)} to ${of('divergence-A-latest')} of preliminary views differ from the final one, depending on the workload`,
    note: 'Reads on Cassandra, three clients, 1000 records. Labels: how many operations write, and which records are used most. Dots are medians, lines their 95 % intervals.',
    see: 'Views differ most if clients read the records that were just written. Otherwise a preliminary view is nearly always right.',
    axis: '% of the reads (log scale)',
    better: 'lower',
    scale: 'log',
    dots: dotsOf(report, names).map(toPercent),
  });
  return { [name]: drawn };
}

const RECORDS: Readonly<Record<string, string>> = {
  latest: 'newest records',
  zipfian: 'popular records',
};

interface BytesRow {
  readonly workload: string;
  readonly distribution: string;
  readonly driven: boolean;
  readonly overhead: number;
  readonly overheadLow: number;
  readonly overheadHigh: number;
  readonly twoRequestsOverhead: number;
  readonly twoRequestsOverheadLow: number;
  readonly twoRequestsOverheadHigh: number;
}

export function drawBytes(report: Report, name: string): Drawn {
  const rows = rowsOf<BytesRow>(report);
  const labelOf = ({ workload, distribution, driven }: BytesRow): string =>
    `${workload === 'A' ? 'half writes' : '5 % writes'}, ${driven ? 'a quarter of views made to differ' : RECORDS[distribution]}`;
  const dots = rows.flatMap((row): Dot[] => [
    {
      label: labelOf(row),
      value: 100 * row.overhead,
      low: 100 * row.overheadLow,
      high: 100 * row.overheadHigh,
    },
    {
      label: labelOf(row),
      value: 100 * row.twoRequestsOverhead,
      low: 100 * row.twoRequestsOverheadLow,
      high: 100 * row.twoRequestsOverheadHigh,
      color: GREY,
    },
  ]);
  const unconfirmed = ['A', 'B'].map((workload): Dot => {
    const { value, low, high } = barOf(report, `bytes-overhead-unconfirmed-${workload}`);
    const label = `${workload === 'A' ? 'half writes' : '5 % writes'}, ${RECORDS['latest']}`;
    return {
      label,
      value: 100 * value,
      low: 100 * low,
      high: 100 * high,
      color: ORANGE,
      number: 'above',
    };
  });
  const ours = rows.map(({ overhead }) => overhead);
  const two = rows.map(({ twoRequestsOverhead }) => twoRequestsOverhead);
  const drawn = intervalsFigure({
    title: `Both views in one request move ${short(100 * Math.min(...ours))} to ${percent(Math.max(...ours))} more bytes than one weak read; two requests at least ${percent(Math.min(...two))} more`,
    note: 'Bytes of requests and answers, client in Ireland, coordinator in Frankfurt. Dots are medians, lines their 95 % intervals.',
    see: 'If the final view equals the preliminary one, the server sends a short confirmation instead. So the more often views differ, the more bytes are sent. Without confirmations, the server would send the second view always; that is computed from what reads send if their views differ.',
    axis: '% more bytes than a read of one replica',
    better: 'lower',
    legend: { 'both views': BLUE, 'unconfirmed, computed': ORANGE, 'two requests': GREY },
    dots: [...dots, ...unconfirmed],
  });
  return { [name]: drawn };
}

interface Sweep {
  readonly workload: string;
  readonly system: string;
  readonly inFlight: number;
  readonly opsPerSec: number;
  readonly preliminary: { readonly avgMs: number } | null;
  readonly final: { readonly avgMs: number };
}

const LOADED = {
  C1: 'read of 1 replica',
  C2: 'read of 2 replicas',
  early: 'preliminary view',
  final: 'final view',
} as const;

export function drawReadLoad(report: Report, name: string): Drawn {
  const { sweeps } = report.samples as { readonly sweeps: readonly Sweep[] };
  const loads = groupBy(
    sweeps,
    ({ workload, system, inFlight }) => `${workload} ${system} ${inFlight}`,
  );
  const points = loads.flatMap((rounds): Point[] => {
    const [{ workload, system, inFlight }] = rounds;
    const { value: x, ...xRange } = spreadOf(rounds.map(({ opsPerSec }) => opsPerSec));
    const pointOf = (series: string, ms: readonly number[]): Point => {
      const { value: y, ...yRange } = spreadOf(ms);
      return { panel: `workload ${workload}`, series, x, y, xRange, yRange };
    };
    const final = rounds.map((round) => round.final.avgMs);
    if (system === 'C1') return [{ ...pointOf(LOADED.C1, final), label: inFlight }];
    if (system === 'C2') return [pointOf(LOADED.C2, final)];
    const early = rounds.flatMap(({ preliminary }) => preliminary?.avgMs ?? []);
    return [pointOf(LOADED.early, early), pointOf(LOADED.final, final)];
  });
  const peakOf = (workload: string, series: string): number =>
    Math.max(
      ...points
        .filter((p) => p.panel === `workload ${workload}` && p.series === series)
        .map(({ x }) => x),
    );
  const workloads = ['A', 'B', 'C'];
  const drops = workloads.map((workload) => barOf(report, `throughput-drop-${workload}-ireland`));
  const shares = drops.map(({ value }) => value);
  const isSure = drops.some(({ low }) => low > 0);
  const times = workloads.map(
    (workload) => peakOf(workload, LOADED.C1) / peakOf(workload, LOADED.final),
  );
  const drawn = linesFigure({
    title: `With both views, throughput is ${short(100 * Math.min(...shares))} to ${percent(Math.max(...shares))} below that of reads of two replicas${isSure ? '' : ' (rounds differ by more)'}; reads of one replica reach up to ${short(Math.max(...times))} times as much`,
    note: `Reads on Cassandra under load, client in Ireland, coordinator in Frankfurt, two more clients elsewhere. ${describeLoads(
      'requests in flight',
      sweeps.map(({ inFlight }) => inFlight),
    )} ${describeLines(Math.min(...loads.map(({ length }) => length)))} Workload A: half writes; B: 5 % writes; C: reads only. Further right and lower is better.`,
    see: 'A preliminary view takes about as long as a read of one replica, and a final view as long as a read of two, until the servers reach their limit. If you need only one replica, a plain read costs the servers less.',
    colors: { [LOADED.C1]: GREY, [LOADED.C2]: INK, [LOADED.early]: BLUE, [LOADED.final]: VIOLET },
    x: { label: 'operations a second' },
    y: { label: 'mean time of a read (ms, log scale)', type: 'log' },
    points,
  });
  return { [name]: drawn };
}

interface EnqueueRow {
  readonly server: string;
  readonly leader: string;
  readonly ranges: Readonly<
    Record<
      'preliminary' | 'final' | 'plain',
      { readonly median: number; readonly min: number; readonly max: number }
    >
  >;
}

export function drawEnqueues(report: Report): Drawn {
  const rows = rowsOf<EnqueueRow>(report);
  const kinds = [
    { kind: 'preliminary', label: 'preliminary view', color: BLUE },
    { kind: 'final', label: 'final view', color: VIOLET },
    { kind: 'plain', label: 'plain client', color: GREY },
  ] as const;
  const dots = rows.flatMap(({ server, leader, ranges }) =>
    kinds.map(({ kind, label, color }): Dot => {
      const { median, min, max } = ranges[kind];
      const group = `server in ${capitalize(server)}, leader in ${capitalize(leader)}`;
      return { group, label, color, value: median, low: min, high: max };
    }),
  );
  const near = rows.filter(({ server }) => server === 'ireland').map(({ ranges }) => ranges);
  const span = (kind: 'preliminary' | 'final'): string => {
    const values = near.map((ranges) => ranges[kind].median);
    return `${short(Math.min(...values))} to ${short(Math.max(...values))} ms`;
  };
  const far = rows.find(({ server }) => server === 'virginia')?.ranges;
  const drawn = intervalsFigure({
    title: `With a server beside the client, an enqueue has a preliminary view after ${span('preliminary')} and its final one after ${span('final')}. With a server in Virginia, they come after ${short(far?.preliminary.median ?? NaN)} and ${short(far?.final.median ?? NaN)} ms`,
    note: 'A client in Ireland adds to a queue in ZooKeeper: median and range of the rounds.',
    see: 'The preliminary view needs only the trip to the server. The final view also waits for the leader, so it takes as long as a plain client. So the gain is large with a near server and a far leader, and small with a far server.',
    axis: 'milliseconds (log scale)',
    better: 'lower',
    scale: 'log',
    dots,
  });
  return { 'zookeeper-latency': drawn };
}

export const drawQueueBytes = (report: Report): Drawn => ({
  'zookeeper-bandwidth': bandwidthFigure(rowsOf<QueueRow>(report)),
});
