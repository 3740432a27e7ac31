/** What is counted of a run of a case study. */
import { expect, test } from 'vitest';
import { Tally } from '../../../../research/case-studies/figures.ts';
import type { Interaction } from '../../../../research/case-studies/user.ts';

const interaction = (more: Partial<Interaction>): Interaction => ({
  site: 'ue',
  request: 'home',
  ms: 1,
  operations: 1,
  updates: 0,
  red: 0,
  failure: undefined,
  ...more,
});

test('interactions → shares of operations and of interactions, latencies by request, site and color', () => {
  const stats = new Tally();
  for (const ms of [1, 2, 3]) stats.add(interaction({ ms, operations: 2 }));
  stats.add(
    interaction({ request: 'buy', site: 'uw', ms: 100, operations: 3, updates: 2, red: 1 }),
  );
  stats.add(interaction({ request: 'buy', site: 'uw', ms: 2, updates: 1 }));
  const { requests, sites, ...sums } = stats.figures(2);
  expect(sums).toEqual({
    interactions: 5,
    interactionsPerSecond: 2.5,
    shares: { blue: 0.9, red: 0.1, readOnly: 0.6, update: 0.4 },
    failures: {},
  });
  expect(requests['home']).toEqual({ blue: { count: 3, p50: 2, p95: 3, p99: 3 }, red: null });
  expect(requests['buy']).toMatchObject({
    blue: { count: 1, p50: 2 },
    red: { count: 1, p50: 100 },
  });
  expect(sites).toMatchObject({
    ue: { interactions: 3 },
    uw: { interactions: 2, red: { p99: 100 } },
  });
  expect(stats.cells.map(({ site, request }) => `${site} ${request}`)).toEqual([
    'ue home',
    'uw buy',
  ]);
});

test('one that failed → counted by its code, and nowhere else', () => {
  const stats = new Tally();
  stats.add(interaction({}));
  stats.add(interaction({ failure: 'CONFLICT', request: 'buy', updates: 1, ms: 0.1 }));
  expect(stats.figures(1)).toMatchObject({
    interactions: 1,
    interactionsPerSecond: 1,
    shares: { blue: 1, red: 0, readOnly: 1, update: 0 },
    requests: { home: { blue: { count: 1 } } },
    sites: { ue: { interactions: 1 } },
    failures: { CONFLICT: 1 },
  });
  expect(stats.figures(1).requests).not.toHaveProperty('buy');
});

test('more than are kept → percentiles of the latest, and the count of all', () => {
  const stats = new Tally(2);
  for (const ms of [9, 9, 1, 2]) stats.add(interaction({ ms }));
  expect(stats.figures(1).requests['home']?.blue).toEqual({ count: 4, p50: 1, p95: 2, p99: 2 });
});

test('nothing yet → no shares, rather than none of nothing', () => {
  expect(new Tally().figures(0.1)).toMatchObject({
    interactions: 0,
    shares: { blue: 0, red: 0 },
    requests: {},
  });
});
