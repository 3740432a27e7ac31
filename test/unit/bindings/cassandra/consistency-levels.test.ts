/** A level is called strong only where no replication makes it a lie. */
import { expect, test } from 'vitest';
import {
  getFinalLevel,
  READ_CONSISTENCIES,
  type Consistency,
} from '../../../../src/bindings/cassandra/consistency-levels.ts';

/** Replicas of each data centre; the client's is one of them. */
type Layout = readonly number[];

const SIZES = [1, 2, 3];
const LAYOUTS: readonly Layout[] = [
  ...Array.from({ length: 9 }, (_, at) => [at + 1]),
  ...SIZES.flatMap((a) => SIZES.flatMap((b) => [[a, b], ...SIZES.map((c) => [a, b, c])])),
];

const quorum = (n: number): number => Math.floor(n / 2) + 1;

/**
 * The fewest replicas of each data centre that may take part, for each choice that the coordinator
 * has.
 */
function choices(consistency: Consistency, layout: Layout, local: number): number[][] {
  const total = layout.reduce((sum, n) => sum + n, 0);
  const counts = { ONE: 1, TWO: 2, THREE: 3, QUORUM: quorum(total), ALL: total } as const;
  if (consistency === 'LOCAL_ONE') return [layout.map((_, at) => (at === local ? 1 : 0))];
  if (consistency === 'LOCAL_QUORUM')
    return [layout.map((n, at) => (at === local ? quorum(n) : 0))];
  if (consistency === 'EACH_QUORUM') return [layout.map(quorum)];
  return spread(Math.min(counts[consistency], total), layout);
}

/** All ways to take `count` replicas from the data centres. */
function spread(count: number, [first = 0, ...rest]: Layout): number[][] {
  if (rest.length === 0) return count <= first ? [[count]] : [];
  return Array.from({ length: Math.min(first, count) + 1 }, (_, taken) =>
    spread(count - taken, rest).map((others) => [taken, ...others]),
  ).flat();
}

/**
 * Whether some read may miss some write: in no data centre are they so many that they have to meet.
 */
function mayMiss(read: Consistency, write: Consistency, layout: Layout): boolean {
  const places = layout.map((_, at) => at);
  return places.some((reader) =>
    places.some((writer) =>
      choices(read, layout, reader).some((r) =>
        choices(write, layout, writer).some((w) =>
          layout.every((n, at) => (r[at] ?? 0) + (w[at] ?? 0) <= n),
        ),
      ),
    ),
  );
}

const PAIRS = READ_CONSISTENCIES.flatMap((read) =>
  READ_CONSISTENCIES.map((write) => [read, write] as const),
);

test.each(PAIRS)(
  'levels: read %s, write %s → strong only if they meet in every replication',
  (read, write) => {
    const meets = (layouts: readonly Layout[]): boolean =>
      !layouts.some((layout) => mayMiss(read, write, layout));
    const level = (singleDataCenter: boolean): string =>
      getFinalLevel(read, write, singleDataCenter);
    expect(level(false)).toBe(meets(LAYOUTS) ? 'strong' : 'quorum');
    expect(level(true)).toBe(
      meets(LAYOUTS.filter(({ length }) => length === 1)) ? 'strong' : 'quorum',
    );
  },
);
