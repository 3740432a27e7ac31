/** Plots of ads and of timelines: how long a request takes with speculation and without, alone and under load. */
import type { Report } from '../harness/results.ts';
import { median } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { linesFigure } from './lines.ts';
import { rowsOf, samplesOf } from './read.ts';
import { BLUE, capitalize, GREY, short, type Drawn, type Figure } from './svg.ts';

const WAYS = { baseline: 'without speculation', correctable: 'with speculation' } as const;
type Way = keyof typeof WAYS;
const COLORS = { [WAYS.baseline]: GREY, [WAYS.correctable]: BLUE };

const WORKLOADS = 'Workload A: half writes; B: 5 % writes; C: reads only.';

/** The load without queueing: so few requests that none waits for another. */
const UNLOADED = 4;

interface Round extends Readonly<Record<Way, { readonly avgMs: number }>> {
  readonly P: number;
  readonly F: number;
  readonly t: number;
}

interface Sample {
  readonly client: string;
  readonly asks?: string;
  readonly cassandra?: { readonly coordinator: string; readonly readQuorum: number };
  readonly workload: string;
  readonly workers?: number;
  readonly rounds?: readonly Round[];
}

interface Row {
  readonly client: string;
  readonly workload: string;
  readonly workers?: number;
  readonly readQuorum?: number;
  readonly baselineMs?: number;
  readonly correctableMs?: number;
  readonly baselineOpsPerSec?: number;
  readonly correctableOpsPerSec?: number;
}

function labelOf({ client, asks, cassandra, workload }: Sample): string {
  const server = asks ?? cassandra?.coordinator ?? client;
  const path = server === client ? capitalize(client) : `${capitalize(client)} → ${capitalize(server)}`;
  return `${path}, workload ${workload}${cassandra?.readQuorum === 3 ? ', reads of all 3' : ''}`;
}

export function drawSpeculation(report: Report, name: string): Drawn {
  const what = name.startsWith('ads') ? 'ads' : 'timelines';
  const unloaded = samplesOf<Sample>(report).flatMap((sample) =>
    sample.workers === UNLOADED && sample.rounds !== undefined ? [{ ...sample, rounds: sample.rounds }] : [],
  );
  const dots = unloaded.flatMap(({ rounds, ...setting }) => {
    const label = labelOf(setting);
    const of = (way: Way): Omit<Dot, 'label'> => {
      const values = rounds.map((round) => round[way].avgMs);
      return { value: median(values), low: Math.min(...values), high: Math.max(...values) };
    };
    const ideal = median(rounds.map(({ P, F, t }) => Math.max(F, P + t)));
    return [
      { label, ...of('correctable'), aim: ideal, number: 'above' } as const,
      { label, ...of('baseline'), color: GREY } as const,
    ];
  });
  const saved = dots.flatMap(({ value }, at) => (at % 2 === 0 ? [1 - value / (dots[at + 1]?.value ?? NaN)] : []));
  const percent = (share: number): number => Math.round(100 * share);
  const [least, most] = [percent(Math.min(...saved)), percent(Math.max(...saved))];
  const latency = intervalsFigure({
    title: `Speculation delivers ${what} ${least} to ${most} % sooner`,
    note: `Mean time to delivery, ${UNLOADED} requests in flight: median and range of the rounds. Labels: the client → its server, if that is elsewhere. ${WORKLOADS} Red ticks: the best possible.`,
    see: 'The gain is nearly as large as it can be. Each red tick shows the time if the second read starts at the preliminary view and no guess is wrong. The blue dots are close to the ticks.',
    axis: 'milliseconds',
    better: 'lower',
    legend: { [WAYS.correctable]: BLUE, [WAYS.baseline]: GREY },
    dots,
  });
  return { [name]: latency, [`${name}-throughput`]: drawLoad(what, report) };
}

function drawLoad(what: string, report: Report): Figure {
  const isSwept = ({ client, workers, readQuorum = 2 }: Row): boolean =>
    client === 'ireland' && workers !== undefined && readQuorum === 2;
  const rows = rowsOf<Row>(report).filter((row) => isSwept(row) && row.baselineMs !== undefined);
  const points = rows.flatMap((row) =>
    (Object.keys(WAYS) as Way[]).map((way) => ({
      panel: `workload ${row.workload}`,
      series: WAYS[way],
      x: row[`${way}OpsPerSec`] ?? NaN,
      y: row[`${way}Ms`] ?? NaN,
    })),
  );
  const gains = rows.map((row) => ({ ...row, gain: 1 - (row.correctableMs ?? NaN) / (row.baselineMs ?? NaN) }));
  // The largest load up to which speculation is not slower for any workload.
  const loads = [...new Set(rows.map(({ workers = 0 }) => workers))].toSorted((a, b) => a - b);
  const isFaster = (load: number): boolean =>
    gains.filter(({ workers }) => workers === load).every(({ gain }) => gain >= 0);
  const slower = loads.findIndex((load) => !isFaster(load));
  const last = slower === -1 ? loads.at(-1) : loads[slower - 1];
  const most = Math.max(...gains.filter(({ workers = 0 }) => workers <= (last ?? 0)).map(({ gain }) => gain));
  const until =
    slower === -1
      ? `at every load measured, up to ${last} requests in flight`
      : `with up to ${last} requests in flight`;
  return linesFigure({
    title: `Speculation delivers ${what} sooner ${until}, by ${short(100 * most)} % at most`,
    note: `Each dot is a load: from dot to dot, more requests are in flight. Further right and lower is better. ${WORKLOADS}`,
    see:
      slower === -1
        ? 'A wrong guess costs its work twice. No load here was high enough for that to cost more than speculation gains.'
        : 'A wrong guess costs its work twice. Near the highest throughput of the server, that costs as much as speculation gains, or more.',
    colors: COLORS,
    x: { label: 'requests a second' },
    y: { label: 'mean time to delivery (ms, log scale)', type: 'log' },
    points,
  });
}
