/** Plots of sites that are separate processes: their cost, and how long clients wait after a kill. */
import type { Report } from '../harness/results.ts';
import { median } from '../harness/statistics.ts';
import { intervalsFigure, type Dot } from './intervals.ts';
import { barOf, dotsOf, rowsOf } from './read.ts';
import { GREY, ORANGE, short, VIOLET, type Drawn, type Figure, type Texts } from './svg.ts';

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

/** The figures of each kill that are drawn, in seconds. */
type Wait = 'undisturbedSeconds' | 'elsewhereSeconds' | 'awaySeconds' | 'backSeconds';

const COLORS: Readonly<Record<Wait, string>> = {
  undisturbedSeconds: GREY,
  elsewhereSeconds: GREY,
  awaySeconds: ORANGE,
  backSeconds: VIOLET,
};

function describeLoss(report: Report): string {
  const count = barOf(report, 'lost').value;
  return count === 0 ? 'no write is lost' : `${count} writes are lost`;
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
  return intervalsFigure({ ...texts, note, axis: 'seconds (log scale)', better: 'lower', scale: 'log', dots });
}

export function drawFailover(report: Report): Drawn {
  const labels = {
    undisturbedSeconds: 'longest wait before the kill',
    elsewhereSeconds: 'longest wait of clients of other sites',
    awaySeconds: 'longest wait of clients of the killed site',
    backSeconds: 'start of the killed process',
  };
  const failover = killsFigure(report, labels, {
    title: `After a site is killed, its clients write again within ${shown(report, 'blue-away-seconds-max')} s, and ${describeLoss(report)}`,
    note: 'a million rows are on the disk.',
    see: `Clients move to another site. The process serves again after ${shown(report, 'node-back-seconds')} s.`,
  });
  return { failover };
}

export function drawEtcdFailover(report: Report): Drawn {
  const labels = { undisturbedSeconds: 'longest wait before the kill', awaySeconds: 'longest wait after the kill' };
  const figure = killsFigure(report, labels, {
    title: `After the leader of etcd is killed, red writes go on within ${shown(report, 'red-away-seconds-max')} s, and ${describeLoss(report)}`,
    note: 'a client at each of three sites.',
    see: 'The servers of etcd elect a new leader after 1 to 2 s without the old one. Blue writes go on meanwhile.',
  });
  return { 'failover-etcd': figure };
}
