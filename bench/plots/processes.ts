/** Plots of sites that are processes of their own: what that costs, and how long clients wait after a kill. */
import type { Report } from '../harness/results.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { barOf, dotsOf, rowsOf } from './read.ts';
import { GREY, ORANGE, short, VIOLET, type Drawn } from './svg.ts';

const shown = (report: Report, name: string): string => short(barOf(report, name).value);

export function drawCluster(report: Report): Drawn {
  const cluster = intervalsFigure({
    title: `A site in a process of its own does ${shown(report, 'blue-vs-embedded')} times the blue writes of one that shares a process`,
    note: 'One of three sites on one machine, with 64 operations in flight and data on a disk. Dots are medians, lines their 95 % intervals; red ticks are our targets.',
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
      ...dotsOf(report, { 'red-latency-vs-etcd': 'latency of red on etcd ÷ etcd and trip' }, { color: VIOLET }),
    ],
  });
  return { cluster };
}

/** What both benchmarks know of a kill. */
interface Kill {
  readonly awaySeconds: number;
  readonly undisturbedSeconds: number;
  readonly backSeconds?: number;
  readonly elsewhereSeconds?: number;
}

function describeLoss(report: Report): string {
  const count = barOf(report, 'lost').value;
  return count === 0 ? 'no write is lost' : `${count} writes are lost`;
}

const spread = (label: string, seconds: readonly number[], color: string): Dot[] => {
  const sorted = seconds.toSorted((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return [{ label, value, low: sorted[0], high: sorted.at(-1), color }];
};

export function drawFailover(report: Report): Drawn {
  const kills = rowsOf<Kill>(report);
  const of = (pick: (kill: Kill) => number | undefined): number[] => kills.flatMap((kill) => pick(kill) ?? []);
  const failover = intervalsFigure({
    title: `After a site is killed, its clients write again within ${shown(report, 'blue-away-seconds-max')} s, and ${describeLoss(report)}`,
    note: `${kills.length} kills with a million rows on the disk. Dots are medians, lines go from the shortest to the longest.`,
    see: `Clients move to another site. The process serves again after ${shown(report, 'node-back-seconds')} s.`,
    axis: 'seconds (log scale)',
    better: 'lower',
    scale: 'log',
    dots: [
      ...spread(
        'longest wait before the kill',
        of((kill) => kill.undisturbedSeconds),
        GREY,
      ),
      ...spread(
        'longest wait of clients of other sites',
        of((kill) => kill.elsewhereSeconds),
        GREY,
      ),
      ...spread(
        'longest wait of clients of the killed site',
        of((kill) => kill.awaySeconds),
        ORANGE,
      ),
      ...spread(
        'start of the killed process',
        of((kill) => kill.backSeconds),
        VIOLET,
      ),
    ],
  });
  return { failover };
}

export function drawEtcdFailover(report: Report): Drawn {
  const kills = rowsOf<Kill>(report);
  const of = (pick: (kill: Kill) => number): number[] => kills.map(pick);
  const figure = intervalsFigure({
    title: `After the leader of etcd is killed, red writes go on within ${shown(report, 'red-away-seconds-max')} s, and ${describeLoss(report)}`,
    note: `${kills.length} kills; a client at each of three sites. Dots are medians, lines go from the shortest to the longest.`,
    see: 'The servers of etcd elect a new leader after 1 to 2 s without the old one. Blue writes go on meanwhile.',
    axis: 'seconds (log scale)',
    better: 'lower',
    scale: 'log',
    dots: [
      ...spread(
        'longest wait before the kill',
        of((kill) => kill.undisturbedSeconds),
        GREY,
      ),
      ...spread(
        'longest wait after the kill',
        of((kill) => kill.awaySeconds),
        ORANGE,
      ),
    ],
  });
  return { 'failover-etcd': figure };
}
