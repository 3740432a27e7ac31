/**
 * Plots of benchmarks whose figures are ratios: to a Promise, an echo, Redis, or a server that does
 * not replicate.
 */
import type { Report } from '../harness/results.ts';
import { intervalsFigure } from './intervals.ts';
import { barOf, dotsOf } from './read.ts';
import { BLUE, GREY, short, VIOLET, type Drawn } from './svg.ts';

const HOW = 'Dots are medians, lines their 95 % intervals';

const percentOf = (report: Report, bar: string): string =>
  `${Math.round(100 * barOf(report, bar).value)} %`;

export function drawCore(report: Report): Drawn {
  const of = (name: string): string => short(barOf(report, name).value);
  const ways = {
    callbacks: 'Correctable, callbacks',
    awaited: 'Correctable, awaited',
    invoke: 'Correctable of a client',
  };
  const named = (end: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(ways).map(([way, label]) => [`${way}${end}-vs-promise`, label]),
    );
  const rxjs = {
    'rxjs-observable-vs-promise': 'RxJS, cheapest Observable',
    'rxjs-cheapest-vs-promise': 'RxJS, cheapest Subject',
    'rxjs-awaited-vs-promise': 'RxJS, awaited',
    'rxjs-vs-promise': 'RxJS, BehaviorSubject',
    'rxjs-invoke-vs-promise': 'RxJS behind a client',
  };
  const colors = { strings: BLUE, 'objects from a wire': VIOLET, 'RxJS, strings': GREY };
  const core = intervalsFigure({
    title: `A Correctable with two views takes ${of('callbacks-vs-promise')} to ${of('invoke-vs-promise')} times as long as a Promise of a string. With objects from a wire it is ${of('callbacks-objects-vs-promise')} to ${of('invoke-objects-vs-promise')} times, and with speculation ${of('speculate-hit-vs-promise')} times`,
    note: `Time for one result, compared with a Promise that is awaited in the same way. ${HOW}.`,
    see: `Two strings are compared at once. Equal objects from a wire are not identical, so each field of them is compared. The same call of a client, built on RxJS, takes ${of('rxjs-invoke-vs-promise')} times as long as a Promise.`,
    axis: 'time ÷ time of a Promise (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'a Promise' },
    legend: colors,
    dots: [
      ...dotsOf(report, named(''), { number: 'above' }),
      ...dotsOf(report, named('-objects'), { color: VIOLET }),
      ...dotsOf(report, { 'speculate-hit-vs-promise': 'Correctable with speculation' }),
      ...dotsOf(report, rxjs, { color: GREY }),
    ],
  });
  return { core };
}

export function drawCrowd(report: Report): Drawn {
  const [{ connections = 200 } = {}] = report.rows as readonly { readonly connections?: number }[];
  const of = (operation: string): string =>
    ['', '-durable']
      .map((where) => short(barOf(report, `${operation}-time-vs-echo${where}`).value))
      .join(' to ');
  const crowd = intervalsFigure({
    title: `With ${connections} connections, a read takes ${of('read')} times the processor time of sending its bytes back, a blue update ${of('blue')} times, a red one ${of('red')} times`,
    note: `Processor time of the server for one operation, compared with a server that only sends the bytes back (an echo). Each connection has one operation in flight. ${HOW}.`,
    see: 'A red operation takes most, since the sites must agree on it. Writing to disk adds to each operation except reads.',
    axis: 'processor time ÷ that of an echo (log scale)',
    better: 'lower',
    scale: 'log',
    reference: { at: 1, label: 'an echo' },
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
    [1, 64, 1024].flatMap((window) =>
      dotsOf(report, { [`${bar}-${window}`]: `${where}, ${window} in flight` }),
    ),
  );
  const values = dots.map(({ value }) => value);
  const server = intervalsFigure({
    title: `One site does ${short(Math.min(...values))} to ${short(Math.max(...values))} times as many updates a second as Redis`,
    note: `One client process for each. Redis is called through ioredis and is set to be as durable. ${HOW}.`,
    see: 'In memory a site is about as fast as Redis. With one operation in flight, and on a disk, Redis is ahead.',
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
  '': 'mix of all',
};

export function drawOverhead(report: Report): Drawn {
  const name = 'one-site-vs-the-same-parts';
  const bars = Object.fromEntries(
    Object.entries(WORK).map(([end, label]) => [`${name}${end}`, label]),
  );
  const percent = (end: string): string => percentOf(report, `${name}${end}`);
  const overhead = intervalsFigure({
    title: `A site that replicates and certifies does ${percent('-withdraw')} to ${percent('-read')} of the operations a second of one that does neither`,
    note: `One site, compared with a server that is built from the same parts, but neither replicates writes nor certifies red ones. ${HOW}.`,
    see: `Reads lose least. Withdrawals lose most: each is red, so the site orders and certifies it. A mix of all three reaches ${percent('')}.`,
    axis: 'operations a second ÷ those without both (log scale)',
    better: 'higher',
    scale: 'log',
    reference: { at: 1, label: 'without both' },
    dots: dotsOf(report, bars),
  });
  return { 'redblue-overhead': overhead };
}

export function drawWire(report: Report): Drawn {
  const dots = [1, 64, 1024].flatMap((window) => [
    ...dotsOf(report, {
      [`rate-vs-equal-echo-one-view-${window}`]: `${window} in flight, one view`,
    }),
    ...dotsOf(
      report,
      { [`rate-vs-equal-echo-both-views-${window}`]: `${window} in flight, both views` },
      { color: VIOLET },
    ),
  ]);
  const wire = intervalsFigure({
    title: `The gateway does ${percentOf(report, 'rate-vs-equal-echo-one-view-1')} of the operations a second of an echo with one in flight, and ${percentOf(report, 'rate-vs-equal-echo-both-views-1024')} to ${percentOf(report, 'rate-vs-equal-echo-one-view-1024')} with 1024`,
    note: `Operations a second through the gateway of a server, compared with a server that only sends the same bytes back (an echo). ${HOW}.`,
    see: 'With many operations in flight, an echo packs its replies into few packets and has almost nothing else to do.',
    axis: 'operations a second ÷ those of the echo (log scale)',
    better: 'higher',
    scale: 'log',
    reference: { at: 1, label: 'an echo' },
    dots,
  });
  return { wire };
}
