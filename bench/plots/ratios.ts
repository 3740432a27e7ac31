/** Plots of benchmarks whose figures are ratios: beside a Promise, an echo, Redis, or the same parts. */
import type { Report } from '../harness/results.ts';
import { intervalsFigure } from './intervals.ts';
import { barOf, dotsOf } from './read.ts';
import { GREY, short, VIOLET, type Drawn } from './svg.ts';

const HOW = 'Dots are medians, lines their 95 % intervals';

const percentOf = (report: Report, bar: string): string => `${Math.round(100 * barOf(report, bar).value)} %`;

export function drawCore(report: Report): Drawn {
  const of = (name: string): string => short(barOf(report, name).value);
  const ours = {
    'callbacks-vs-promise': 'Correctable, callbacks',
    'awaited-vs-promise': 'Correctable, awaited',
    'invoke-vs-promise': 'Correctable of a client',
    'speculate-hit-vs-promise': 'Correctable with speculation',
  };
  const rxjs = {
    'rxjs-observable-vs-promise': 'RxJS, cheapest Observable',
    'rxjs-cheapest-vs-promise': 'RxJS, cheapest Subject',
    'rxjs-awaited-vs-promise': 'RxJS, awaited',
    'rxjs-vs-promise': 'RxJS, BehaviorSubject',
    'rxjs-invoke-vs-promise': 'RxJS behind a client',
  };
  const core = intervalsFigure({
    title: `A Correctable with two views takes ${of('callbacks-vs-promise')} to ${of('invoke-vs-promise')} times as long as a Promise with one`,
    note: `Time for one result, each beside a Promise that is waited for alike. ${HOW}; red ticks are aims.`,
    see: `Callbacks cost ${of('callbacks-vs-promise')} times a Promise, a call of a client ${of('invoke-vs-promise')} times; the same call in RxJS costs ${of('rxjs-invoke-vs-promise')} times.`,
    axis: 'time ÷ time of a Promise (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'a Promise' },
    dots: [...dotsOf(report, ours), ...dotsOf(report, rxjs, { color: GREY })],
  });
  return { core };
}

export function drawCrowd(report: Report): Drawn {
  const [{ connections = 200 } = {}] = report.rows as readonly { readonly connections?: number }[];
  const blue = short(barOf(report, 'blue-time-vs-echo').value);
  const red = short(barOf(report, 'red-time-vs-echo').value);
  const crowd = intervalsFigure({
    title: `With ${connections} connections, a blue update costs the server ${blue} times what a bare echo of its bytes costs`,
    note: `Processor time of the server for one operation; each connection has one at a time. ${HOW}; the red tick is the aim.`,
    see: `A red operation, which sites agree about, costs ${red} times the echo; a write to disk adds to each but reads.`,
    axis: 'processor time ÷ that of an echo (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'a bare echo' },
    dots: ['read', 'blue', 'red'].flatMap((operation) => {
      const [bar, label] = [`${operation}-time-vs-echo`, `${operation} operation`];
      return [
        ...dotsOf(report, { [bar]: `${label}, in memory` }),
        ...dotsOf(report, { [`${bar}-durable`]: `${label}, on disk` }, { color: VIOLET }),
      ];
    }),
  });
  return { crowd };
}

export function drawServer(report: Report): Drawn {
  const groups = [
    ['ephemeral-blue-vs-ioredis', 'in memory'],
    ['durable-blue-vs-ioredis-aof', 'on disk'],
  ] as const;
  const dots = groups.flatMap(([bar, where]) =>
    [1, 64, 1024].flatMap((window) => [
      ...dotsOf(report, { [`${bar}-${window}`]: `${where}, ${window} in flight` }, { color: GREY }),
      ...dotsOf(report, { [`${bar}-${window}-tuned`]: `${where}, ${window} in flight, tuned` }),
    ]),
  );
  const values = dots.map(({ value }) => value);
  const server = intervalsFigure({
    title: `One site does ${short(Math.min(...values))} to ${short(Math.max(...values))} times the updates a second of Redis`,
    note: `One client process each; Redis through ioredis, as durable as the site. ${HOW}; red ticks are aims.`,
    see: 'With its own flags for V8 a site comes near Redis at one operation at a time; with 64 in flight Redis is ahead.',
    axis: 'updates a second ÷ those of Redis (log scale)',
    better: 'higher',
    scale: 'log',
    reference: { at: 1, label: 'Redis' },
    dots,
  });
  return { server };
}

const WORK: Readonly<Record<string, string>> = {
  '-read': 'reads',
  '-deposit': 'deposits (blue)',
  '-withdraw': 'withdrawals (red)',
  '': 'mix of all, cold',
  '-mix-warm': 'mix of all, warm',
};

export function drawOverhead(report: Report): Drawn {
  const name = 'one-site-vs-the-same-parts';
  const bars = Object.fromEntries(Object.entries(WORK).map(([end, label]) => [`${name}${end}`, label]));
  const percent = (end: string): string => percentOf(report, `${name}${end}`);
  const overhead = intervalsFigure({
    title: `Replication and certification leave one site ${percent('-withdraw')} to ${percent('-read')} of its throughput, by what is asked`,
    note: `One site beside a server of the same parts without both. ${HOW}; the red tick is the aim.`,
    see: `Reads lose least and withdrawals most: each is red, so it is ordered and certified. The mix reaches ${percent('')}.`,
    axis: 'operations a second ÷ those of the same parts',
    better: 'higher',
    scale: 'log',
    reference: { at: 1, label: 'the same parts' },
    dots: dotsOf(report, bars),
  });
  return { 'redblue-overhead': overhead };
}

export function drawWire(report: Report): Drawn {
  const dots = [1, 64, 1024].flatMap((window) => [
    ...dotsOf(report, { [`rate-vs-equal-echo-one-view-${window}`]: `${window} in flight, one view` }),
    ...dotsOf(
      report,
      { [`rate-vs-equal-echo-both-views-${window}`]: `${window} in flight, both views` },
      { color: VIOLET },
    ),
  ]);
  const wire = intervalsFigure({
    title: `One at a time, the gateway does ${percentOf(report, 'rate-vs-equal-echo-one-view-1')} of the operations of a bare echo of the same bytes`,
    note: `Operations a second through the gateway of a server. ${HOW}.`,
    see: `With many in flight an echo sends them in few packets and nearly free: the gateway reaches ${percentOf(report, 'rate-vs-equal-echo-one-view-1024')} of it there.`,
    axis: 'operations a second ÷ those of the echo (log scale)',
    better: 'higher',
    scale: 'log',
    reference: { at: 1, label: 'an echo' },
    dots,
  });
  return { wire };
}
