/** Evaluates the visits of a page, and computes the goals of `correctables/react`. */
import { estimate, limitTime, reported, type GoalResult } from '../harness/goals.ts';
import { LOOKS } from '../harness/adaptive-rounds.ts';
import { mean, median, rounded } from '../harness/statistics.ts';
import type { Visit, Visited } from './page.ts';
import { WAY_NAMES, type Way } from './ways.ts';

/** One visit with its result. */
export type Sample = Omit<Visit, 'product'> & Visited;

/** All measurements of a run. */
export interface Samples {
  readonly rounds: readonly (readonly Sample[])[];
  /** Requests of each page that was hydrated with a final view. */
  readonly hydrationRequests: readonly number[];
  /** The size that `correctables/react` adds to the library, minified and compressed. */
  readonly reactBytes: number;
  /** The part of that size that a page needs if it only reads. */
  readonly readsBytes: number;
}

/** The samples in a results file: a visit is an array of figures, so that the file stays small. */
export interface PackedSamples extends Omit<Samples, 'rounds'> {
  readonly columns: readonly string[];
  readonly rounds: readonly { readonly visits: readonly (readonly (number | boolean)[])[] }[];
}

const COLUMNS = [
  'firstPaintMs',
  'finalPaintMs',
  'isCorrected',
  'renders',
  'requests',
  'bytesSent',
  'bytesReceived',
] as const satisfies readonly (keyof Visited)[];

export function packSamples({ rounds, ...once }: Samples): PackedSamples {
  const pack = ({ way, isSold, ...visited }: Sample): (number | boolean)[] => [
    WAY_NAMES.indexOf(way),
    isSold,
    ...COLUMNS.map((column) => visited[column]),
  ];
  const columns = [`way: ${WAY_NAMES.join('; ')}`, 'isSold', ...COLUMNS];
  return { ...once, columns, rounds: rounds.map((visits) => ({ visits: visits.map(pack) })) };
}

export function unpackSamples({
  rounds,
  hydrationRequests,
  reactBytes,
  readsBytes,
}: PackedSamples): Samples {
  const unpack = ([way, isSold, ...figures]: readonly (number | boolean)[]): Sample =>
    ({
      way: WAY_NAMES[Number(way)],
      isSold,
      ...Object.fromEntries(COLUMNS.map((column, at) => [column, figures[at]])),
    }) as unknown as Sample;
  return {
    rounds: rounds.map(({ visits }) => visits.map(unpack)),
    hydrationRequests,
    reactBytes,
    readsBytes,
  };
}

type Figure = Exclude<(typeof COLUMNS)[number], 'isCorrected'>;

const valuesOf = (visits: readonly Sample[], way: Way, figure: Figure): number[] =>
  visits.filter((item) => item.way === way).map((item) => item[figure]);

export function rowOf(way: Way, samples: readonly Sample[]): Readonly<Record<string, unknown>> {
  const all = samples.filter((item) => item.way === way);
  const corrected = all.filter(({ isSold }) => isSold);
  const confirmed = all.filter(({ isSold }) => !isSold);
  const of = (visits: readonly Sample[], figure: Figure, average = mean): number =>
    rounded(average(valuesOf(visits, way, figure)));
  return {
    way,
    visits: all.length,
    firstPaintMs: of(all, 'firstPaintMs', median),
    finalPaintMs: of(corrected, 'finalPaintMs', median),
    renders: of(corrected, 'renders'),
    rendersIfConfirmed: of(confirmed, 'renders'),
    requests: of(all, 'requests'),
    bytesSent: of(all, 'bytesSent'),
    bytesReceived: of(corrected, 'bytesReceived'),
    bytesReceivedIfConfirmed: of(confirmed, 'bytesReceived'),
  };
}

/** Compares the ways round by round. */
export function computeGoalResults({
  rounds,
  hydrationRequests,
  reactBytes,
  readsBytes,
}: Samples): GoalResult[] {
  const sold = rounds.map((round) => round.filter(({ isSold }) => isSold));
  const unsold = rounds.map((round) => round.filter(({ isSold }) => !isSold));
  const ratio = (figure: Figure, way: Way, to: Way, visits = rounds) =>
    estimate(
      visits.map(
        (round) => median(valuesOf(round, way, figure)) / median(valuesOf(round, to, figure)),
      ),
      LOOKS,
    );
  const most = (visits: readonly (readonly Sample[])[], way: Way, figure: Figure): number =>
    Math.max(...visits.map((round) => rounded(mean(valuesOf(round, way, figure)))));
  const [ours, eager, prefetched] = [
    'useCorrectable',
    'useCorrectable, suspend: false',
    'useCorrectable, prefetched',
  ] as const;
  const two = 'two queries';
  return [
    limitTime('first-paint-vs-two-queries', ratio('firstPaintMs', ours, two), { aim: 0.95 }),
    reported('first-paint-without-suspense-vs-two-queries', ratio('firstPaintMs', eager, two)),
    reported('first-paint-vs-use', ratio('firstPaintMs', ours, 'use')),
    reported('final-paint-vs-two-queries', ratio('finalPaintMs', ours, two, sold)),
    reported('final-paint-vs-use', ratio('finalPaintMs', ours, 'use', sold)),
    limitTime('requests', most(rounds, ours, 'requests'), { aim: 1 }, 'per query'),
    reported('requests-of-two-queries', most(rounds, two, 'requests'), 'per query'),
    limitTime('renders-per-query', most(sold, ours, 'renders'), { aim: 3 }, 'per query'),
    limitTime('renders-if-confirmed', most(unsold, ours, 'renders'), { aim: 2 }, 'per query'),
    reported('renders-of-two-queries', most(sold, two, 'renders'), 'per query'),
    reported('bytes-received-vs-two-queries', ratio('bytesReceived', ours, two, sold)),
    reported(
      'bytes-received-if-confirmed-vs-two-queries',
      ratio('bytesReceived', ours, two, unsold),
    ),
    limitTime('hydration-requests', Math.max(...hydrationRequests), { aim: 0 }, 'per page'),
    limitTime('prefetch-wait-vs-none', ratio('firstPaintMs', prefetched, ours), { aim: 0.2 }),
    reported('prefetch-final-wait-vs-none', ratio('finalPaintMs', prefetched, ours, sold)),
    limitTime('react-kb', rounded(reactBytes / 1000), { aim: 2 }, 'kB'),
    reported('react-kb-of-reads', rounded(readsBytes / 1000), 'kB'),
  ];
}
