/**
 * Compares the processor time of this checkout with that of another one, in ten minutes: the
 * library, the wire, and a site under one client and under a crowd. Both run in the same starts, in
 * turns, so the speed of the machine affects both. Run it at the end of each piece of work, beside
 * the commit before it.
 */
import { UsageError } from '../../engines/usage-error.ts';
import { checkCheckout, describeCheckout } from '../harness/checkouts.ts';
import type { Bench, Outcome, Settings } from '../harness/bench.ts';
import type { Estimate } from '../harness/goals.ts';
import { versionsOf } from '../harness/provenance.ts';
import type { Target } from '../load/messages.ts';
import { serverFlags, type Order } from '../load/processes.ts';
import { measureStarts, QUICK, STARTS, type Extent, type Plan } from '../load/restart-rounds.ts';
import { figureOf, figureRatioOf, type Samples } from '../load/rounds.ts';
import { startSite, startSiteOfCrowd, startWay, startWire, type StartOne } from './contestants.ts';
import { computeGoalResults, describeChange, isDecided, type Ratios } from './goals.ts';

type Name = 'this' | 'other';
type Figure = 'serverUsPerOp' | 'clientUsPerOp';

/**
 * One order, the processes that it is for, and the figures that it gives, by their names in the
 * result.
 */
interface Run {
  readonly startOne: StartOne;
  readonly order: Order;
  readonly figures: Readonly<Record<string, Figure>>;
}

/** Runs of the same processes, which start once for all of them. */
type Part = readonly [Run, ...Run[]];

interface Measurement {
  readonly part: Part;
  readonly samples: readonly Samples<Name>[];
}

const FULL: Extent = { ...STARTS, rounds: 1, warmUps: 5 };

export const pace: Bench = {
  name: 'pace',
  about: 'the processor time of this checkout beside another one (--beside DIR), in ten minutes',
  takes: ['beside'],
  run,
};

async function run({ quick, beside, progress }: Settings): Promise<Outcome> {
  if (beside === undefined) {
    throw new UsageError(
      'pace needs a checkout to compare with: --beside DIR, for example of the commit before.',
    );
  }
  checkCheckout(beside);
  const extent = quick ? QUICK : FULL;
  const parts: Measurement[] = [];
  for (const part of partsOf(quick)) {
    const samples = await measureStarts(targetsOf(beside), part.map(toPlan), {
      ...extent,
      warmUp: part[0].order,
      isDecided: (soFar) => isDecided(ratiosOf(part, soFar)),
      startOne: part[0].startOne,
      progress,
    });
    parts.push({ part, samples });
  }
  const ratios: Ratios = new Map(
    parts.flatMap(({ part, samples }) => [...ratiosOf(part, samples)]),
  );
  return {
    rounds: extent.starts,
    rows: parts.flatMap(({ part, samples }) => rowsOf(part, samples)),
    bars: computeGoalResults(ratios),
    samples: parts.flatMap(({ part, samples }) =>
      part.map(({ order }, at) => ({ ...order, samples: Object.fromEntries(samples[at] ?? []) })),
    ),
    versions: { ...versionsOf('ws', 'msgpackr'), ...describeCheckout(beside) },
    flags: serverFlags(),
  };
}

function targetsOf(checkout: string): Readonly<Record<Name, Target>> {
  const site = { kind: 'redblue', sites: 1, durable: false } as const;
  return { this: site, other: { ...site, checkout } };
}

function toPlan({ order }: Run): Plan<Name> {
  return { ...order, names: ['this', 'other'] };
}

/** Returns each figure of this checkout as a multiple of that of the other one. */
function ratiosOf(part: Part, samples: readonly Samples<Name>[]): Ratios {
  return new Map(
    part.flatMap(({ figures }, at) =>
      Object.entries(figures).map(
        ([name, figure]) =>
          [
            name,
            figureRatioOf(samples[at] as Samples<Name>, { of: 'this', to: 'other' }, figure),
          ] as const,
      ),
    ),
  );
}

function rowsOf(part: Part, samples: readonly Samples<Name>[]): Record<string, unknown>[] {
  const ratios = ratiosOf(part, samples);
  return part.flatMap(({ figures }, at) => {
    const us = (side: Name, figure: Figure): number =>
      figureOf(samples[at]?.get(side) ?? [], figure).value;
    return Object.entries(figures).map(([name, figure]) => {
      const ratio = ratios.get(name) as Estimate;
      const { value, low, high } = ratio;
      const times = { thisUs: us('this', figure), otherUs: us('other', figure) };
      return { figure: name, ...times, ratio: value, low, high, change: describeChange(ratio) };
    });
  });
}

/** What is measured of both checkouts. All runs of a part have the same processes. */
function partsOf(quick: boolean): readonly Part[] {
  const durationMs = quick ? 200 : 600;
  const load = (workload: Order['workload'], window: number): Order => ({
    workload,
    window,
    durationMs,
  });
  const operations = quick ? 40_000 : 400_000;
  const ways = ['callbacks', 'awaited', 'invoke'] as const;
  const server = (name: string): Run['figures'] => ({ [name]: 'serverUsPerOp' });
  const client = (name: string): Run['figures'] => ({ [name]: 'clientUsPerOp' });
  return [
    [
      {
        startOne: startSite,
        order: load('deposit', 64),
        figures: { ...server('site-blue'), ...client('client-blue') },
      },
      {
        startOne: startSite,
        order: load('withdraw', 64),
        figures: { ...server('site-red'), ...client('client-red') },
      },
      { startOne: startSite, order: load('read', 64), figures: server('site-read') },
    ],
    [
      { startOne: startSiteOfCrowd, order: load('deposit', 200), figures: server('crowd-blue') },
      { startOne: startSiteOfCrowd, order: load('withdraw', 200), figures: server('crowd-red') },
    ],
    [
      {
        startOne: startWire,
        order: load('set', 64),
        figures: { ...server('wire-server'), ...client('wire-client') },
      },
    ],
    ...ways.map((name): Part => [
      {
        startOne: startWay(name, operations),
        order: load('set', 1000),
        figures: client(`core-${name}`),
      },
    ]),
  ];
}
