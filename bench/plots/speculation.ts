/**
 * Plots of ads and of timelines: how long a request takes with speculation and without, alone and
 * under load.
 */
import type { Report } from '../harness/results.ts';
import { median } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { linesFigure } from './lines.ts';
import { samplesOf } from './read.ts';
import { describeLines, describeLoads, spreadOf } from './spread.ts';
import { BLUE, capitalize, GREEN, GREY, short, VIOLET, type Drawn, type Figure } from './svg.ts';

const WAYS = { baseline: 'without speculation', correctable: 'with speculation' } as const;
type Way = keyof typeof WAYS;
const COLORS = { [WAYS.baseline]: GREY, [WAYS.correctable]: BLUE };

const WORKLOADS = 'Workload A: half writes; B: 5 % writes; C: reads only.';

/** The load without queueing: so few requests that none waits for another. */
const UNLOADED = 4;

interface Round extends Readonly<
  Record<Way, { readonly avgMs: number; readonly opsPerSec: number }>
> {
  readonly P: number;
  readonly F: number;
  readonly t: number;
  readonly divergence: number;
}

interface Sample {
  readonly client: string;
  readonly asks?: string;
  readonly cassandra?: { readonly coordinator: string; readonly readQuorum: number };
  readonly workload: string;
  readonly workers?: number;
  readonly rounds?: readonly Round[];
}

/** A workload with that many requests in flight. */
interface Load {
  readonly workload: string;
  readonly workers: number;
  readonly rounds: readonly Round[];
}

function labelOf({ client, asks, cassandra, workload }: Sample): string {
  const server = asks ?? cassandra?.coordinator ?? client;
  const path =
    server === client ? capitalize(client) : `${capitalize(client)} → ${capitalize(server)}`;
  return `${path}, workload ${workload}${cassandra?.readQuorum === 3 ? ', reads of all 3' : ''}`;
}

export function drawSpeculation(report: Report, name: string): Drawn {
  const what = name.startsWith('ads') ? 'ads' : 'timelines';
  const unloaded = samplesOf<Sample>(report).flatMap((sample) =>
    sample.workers === UNLOADED && sample.rounds !== undefined
      ? [{ ...sample, rounds: sample.rounds }]
      : [],
  );
  const dots = unloaded.flatMap(({ rounds, ...setting }) => {
    const label = labelOf(setting);
    const of = (way: Way): Omit<Dot, 'label'> => {
      const values = rounds.map((round) => round[way].avgMs);
      return { value: median(values), low: Math.min(...values), high: Math.max(...values) };
    };
    const ideal = median(rounds.map(({ P, F, t }) => Math.max(F, P + t)));
    return [
      { label, ...of('correctable'), best: ideal, number: 'above' } as const,
      { label, ...of('baseline'), color: GREY } as const,
    ];
  });
  const saved = dots.flatMap(({ value }, at) =>
    at % 2 === 0 ? [1 - value / (dots[at + 1]?.value ?? NaN)] : [],
  );
  const percent = (share: number): number => Math.round(100 * share);
  const [least, most] = [percent(Math.min(...saved)), percent(Math.max(...saved))];
  const latency = intervalsFigure({
    title: `Speculation delivers ${what} ${least} to ${most} % sooner with ${UNLOADED} requests in flight`,
    note: `Mean time to delivery, ${UNLOADED} requests in flight: median and range of the rounds. Labels: the client → its server, if that is elsewhere. ${WORKLOADS} Ticks: the best possible.`,
    see: 'The gain is nearly as large as it can be. Each tick shows the time if the second read starts at the preliminary view and no guess is wrong. The blue dots are close to the ticks.',
    axis: 'milliseconds',
    better: 'lower',
    legend: { [WAYS.correctable]: BLUE, [WAYS.baseline]: GREY },
    dots,
  });
  const loads = listLoads(report);
  const isDivergent = loads.some(({ rounds }) => rounds.some(({ divergence }) => divergence > 0));
  return {
    [name]: latency,
    [`${name}-throughput`]: drawLoad(what, loads),
    ...(isDivergent && { [`${name}-divergence`]: drawDivergentViews(what, loads) }),
  };
}

/**
 * Returns the loads of the client in Ireland, which is the one that was measured under rising load.
 */
function listLoads(report: Report): Load[] {
  return samplesOf<Sample>(report).flatMap(({ client, cassandra, workload, workers, rounds }) => {
    if (client !== 'ireland' || workers === undefined || rounds === undefined) return [];
    return (cassandra?.readQuorum ?? 2) === 2 ? [{ workload, workers, rounds }] : [];
  });
}

const roundsOf = (loads: readonly Load[]): number =>
  Math.min(...loads.map(({ rounds }) => rounds.length));
const listWorkers = (loads: readonly Load[]): number[] =>
  [...new Set(loads.map(({ workers }) => workers))].toSorted((a, b) => a - b);

function drawLoad(what: string, loads: readonly Load[]): Figure {
  const points = loads.flatMap(({ workload, workers, rounds }) =>
    (Object.keys(WAYS) as Way[]).map((way) => {
      const { value: x, ...xRange } = spreadOf(rounds.map((round) => round[way].opsPerSec));
      const { value: y, ...yRange } = spreadOf(rounds.map((round) => round[way].avgMs));
      const label = way === 'baseline' ? { label: workers } : {};
      return { panel: `workload ${workload}`, series: WAYS[way], x, y, xRange, yRange, ...label };
    }),
  );
  return linesFigure({
    title: describeGain(what, loads),
    note: `${describeLoads('requests in flight', listWorkers(loads))} ${describeLines(roundsOf(loads))} Further right and lower is better. ${WORKLOADS}`,
    see: 'A wrong guess costs its work twice. Near the highest throughput of the server, that costs as much as speculation gains, or more.',
    colors: COLORS,
    x: { label: 'requests a second' },
    y: { label: 'mean time to delivery (ms, log scale)', type: 'log' },
    points,
  });
}

/**
 * Describes up to which load speculation delivers sooner for all workloads, and how much later it
 * delivers beyond.
 */
function describeGain(what: string, loads: readonly Load[]): string {
  const gains = loads.map(({ workers, rounds }) => {
    const of = (way: Way): number => median(rounds.map((round) => round[way].avgMs));
    return { workers, gain: 1 - of('correctable') / of('baseline') };
  });
  const all = listWorkers(loads);
  const slower = all.find((load) =>
    gains.some(({ workers, gain }) => workers === load && gain < 0),
  );
  const last = slower === undefined ? all.at(-1) : all[all.indexOf(slower) - 1];
  const most = Math.max(
    ...gains.filter(({ workers }) => workers <= (last ?? 0)).map(({ gain }) => gain),
  );
  const sooner = `Speculation delivers ${what} up to ${short(100 * most)} % sooner with up to ${last} requests in flight`;
  if (slower === undefined) return `${sooner}, the highest load measured`;
  const least = Math.min(
    ...gains.filter(({ workers }) => workers >= slower).map(({ gain }) => gain),
  );
  return `${sooner}, and up to ${short(-100 * least)} % later with more`;
}

/** Each workload writes more than the next one. */
const WORKLOAD_COLORS = { A: VIOLET, B: BLUE, C: GREEN };

function drawDivergentViews(what: string, loads: readonly Load[]): Figure {
  const points = loads.map(({ workload, workers, rounds }) => {
    const { value: y, ...yRange } = spreadOf(rounds.map(({ divergence }) => 100 * divergence));
    return { series: nameWorkload(workload), x: workers, y, yRange };
  });
  const [least = 0, most = 0] = [listWorkers(loads)[0], listWorkers(loads).at(-1)];
  const shareAt = (load: number): string =>
    short(Math.max(...points.filter(({ x }) => x === load).map(({ y }) => y)));
  const colors = Object.entries(WORKLOAD_COLORS).map(([workload, color]) => [
    nameWorkload(workload),
    color,
  ]);
  return linesFigure({
    title: `Of the preliminary views of ${what}, ${shareAt(least)} % differ from the final one with ${least} requests in flight, and up to ${shareAt(most)} % with ${most}`,
    note: `Client in Ireland. ${describeLines(roundsOf(loads))} Lower is better.`,
    see: 'The more requests are in flight, the more writes fall between the two views. If a view differs, its guess is wrong, and the work is done again. A workload that only reads has no such views.',
    colors: Object.fromEntries(colors) as Record<string, string>,
    x: { label: 'requests in flight (log scale)', type: 'log' },
    y: { label: '% of preliminary views that differ' },
    points,
  });
}

function nameWorkload(workload: string): string {
  return { A: 'half writes', B: '5 % writes', C: 'reads only' }[workload] ?? workload;
}
