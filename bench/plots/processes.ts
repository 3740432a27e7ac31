/**
 * Plots of sites that are separate processes: their cost, and how long clients wait after a kill.
 */
import type { Timeline } from '../cluster/failover.ts';
import type { Report } from '../harness/results.ts';
import { median } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { linesFigure } from './lines.ts';
import { barOf, dotsOf, rowsOf, samplesOf } from './read.ts';
import { describeLines, spreadOf } from './spread.ts';
import { GREY, ORANGE, short, VIOLET, type Drawn, type Figure, type Texts } from './svg.ts';

const shown = (report: Report, name: string): string => short(barOf(report, name).value);

export function drawCluster(report: Report): Drawn {
  const cluster = intervalsFigure({
    title: `A site in a process of its own does ${shown(report, 'blue-vs-embedded')} times the blue writes of one that shares a process`,
    note: 'One of three sites on one machine, with 64 operations in flight and data on a disk. Dots are medians, lines their 95 % intervals.',
    see: `Messages between processes are encrypted. A red operation with its log on etcd takes ${shown(report, 'red-latency-vs-etcd')} times as long as etcd and the trip to the site.`,
    axis: 'ratio (log scale)',
    scale: 'log',
    reference: { at: 1, label: 'the same' },
    dots: [
      ...dotsOf(
        report,
        {
          'blue-vs-embedded': 'blue writes a second ÷ in one process',
          'blue-per-processor-vs-embedded': 'blue writes for its processor time ÷ in one process',
          'red-vs-embedded': 'red writes a second ÷ in one process',
          'read-vs-embedded': 'reads a second ÷ in one process',
        },
        { number: 'above' },
      ),
      ...dotsOf(
        report,
        { 'red-latency-vs-etcd': 'latency of red on etcd ÷ etcd and trip' },
        { color: VIOLET },
      ),
    ],
  });
  return { cluster };
}

/** The figures of each kill that are drawn, in seconds. */
type Wait = 'undisturbedSeconds' | 'elsewhereSeconds' | 'awaySeconds' | 'backSeconds';

const COLORS: Readonly<Record<Wait, string>> = {
  undisturbedSeconds: GREY,
  elsewhereSeconds: GREY,
  awaySeconds: ORANGE,
  backSeconds: VIOLET,
};

/** Describes the check of the benchmark, which a plot of times cannot show. */
function describeLoss(report: Report): string {
  const [lost, repeated] = ['lost', 'repeated'].map((name) => barOf(report, name).value);
  return `At the end, the benchmark compares all sites with the confirmed writes: ${lost} are missing, and ${repeated} were applied twice.`;
}

/** A row for each wait: its median over all kills, the shortest and the longest. */
function killsFigure(report: Report, labels: Partial<Record<Wait, string>>, texts: Texts): Figure {
  const kills = rowsOf<Record<Wait, number>>(report);
  const dots = Object.entries(labels).map(([wait, label]): Dot => {
    const seconds = kills.map((kill) => kill[wait as Wait]);
    const [low, high] = [Math.min(...seconds), Math.max(...seconds)];
    return { label, value: median(seconds), low, high, color: COLORS[wait as Wait] };
  });
  const note = `${kills.length} kills; ${texts.note} Dots are medians, lines go from the shortest to the longest.`;
  return intervalsFigure({
    ...texts,
    note,
    axis: 'seconds (log scale)',
    better: 'lower',
    scale: 'log',
    dots,
  });
}

export function drawFailover(report: Report): Drawn {
  const labels = {
    undisturbedSeconds: 'longest wait before the kill',
    elsewhereSeconds: 'longest wait of clients of other sites',
    awaySeconds: 'longest wait of clients of the killed site',
    backSeconds: 'start of the killed process',
  };
  const failover = killsFigure(report, labels, {
    title: `After a site is killed, its clients write again within ${shown(report, 'blue-away-seconds-max')} s, and its process serves again within ${shown(report, 'node-back-seconds-max')} s`,
    note: 'a million rows are on the disk.',
    see: `Clients move to another site meanwhile. ${describeLoss(report)}`,
  });
  const timelines = samplesOf<{ readonly timeline?: Timeline }>(report).flatMap(
    ({ timeline }) => timeline ?? [],
  );
  // Older results have no writes over time.
  return { failover, ...(timelines.length > 0 && { 'failover-writes': drawWrites(timelines) }) };
}

const CLIENTS = {
  elsewhere: 'clients of other sites',
  away: 'clients of the killed site',
} as const;

/** Draws how many writes are confirmed in each step before and after the kills. */
function drawWrites(timelines: readonly Timeline[]): Figure {
  const points = (Object.keys(CLIENTS) as (keyof typeof CLIENTS)[]).flatMap((clients) =>
    (timelines[0]?.[clients] ?? []).map((_, step, { length }) => {
      const perSecond = timelines.map(
        (timeline) => ((timeline[clients][step] ?? NaN) * 1000) / timeline.stepMs,
      );
      const { value: y, ...yRange } = spreadOf(perSecond);
      const x = ((step + 0.5 - length / 2) * (timelines[0]?.stepMs ?? NaN)) / 1000;
      return { series: CLIENTS[clients], x, y, yRange };
    }),
  );
  const silent = points.filter(({ series, x, y }) => series === CLIENTS.away && x > 0 && y === 0);
  const seconds = (silent.length * (timelines[0]?.stepMs ?? NaN)) / 1000;
  return linesFigure({
    title: `While a site is away, clients of other sites write on; its own clients confirm nothing for ${short(seconds)} s`,
    note: `Confirmed writes a second around ${timelines.length} kills, two clients of each kind, one operation after the other. ${describeLines(timelines.length)} A kill is at 0.`,
    see: 'The clients of the killed site move to the nearest other site.',
    colors: { [CLIENTS.elsewhere]: GREY, [CLIENTS.away]: ORANGE },
    x: { label: 'seconds after the kill' },
    y: { label: 'confirmed writes a second' },
    points,
  });
}

export function drawEtcdFailover(report: Report): Drawn {
  const labels = {
    undisturbedSeconds: 'longest wait before the kill',
    awaySeconds: 'longest wait after the kill',
  };
  const figure = killsFigure(report, labels, {
    title: `After the leader of etcd is killed, red writes go on within ${shown(report, 'red-away-seconds-max')} s`,
    note: 'a client at each of three sites.',
    see: `The servers of etcd elect a new leader after 1 to 2 s without the old one. Blue writes go on meanwhile. ${describeLoss(report)}`,
  });
  return { 'failover-etcd': figure };
}
