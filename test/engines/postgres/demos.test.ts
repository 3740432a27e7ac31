/** The ticket shop and the ad server on real PostgreSQL servers: unchanged application code. */
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { deployAds } from '../../../demo/ad-server/deploy.ts';
import { runAbComparison } from '../../../demo/shared/speculation/ab-comparison.ts';
import { compare } from '../../../demo/shared/speculation/report.ts';
import type { Site } from '../../../demo/tickets/options.ts';
import { runSale, stockUp } from '../../../demo/tickets/sale.ts';
import { openPostgres } from '../../../demo/tickets/stores/postgres.ts';
import { verifySales, type Verdict } from '../../../demo/tickets/verify/verify-sales.ts';
import { findPostgres } from '../../../engines/postgres/programs.ts';
import { reasonToSkip } from '../support/missing-tools.ts';

const TICKETS = 300;
const NO_FAULT = { revoked: 0, contradicted: 0, oversold: 0, duplicates: 0, unknown: 0, lost: 0 };

/**
 * Sells twice: the first time the bindings find out about each other, and how long a dequeue takes.
 */
async function sell(client: readonly Site[], threshold: number): Promise<Verdict> {
  const store = await openPostgres(
    { client, wan: 'paper', stock: 'queue', isFixed: false },
    () => {},
  );
  try {
    await stockUp(store.shops, 'rehearsal', 40);
    await runSale(store.shops, { event: 'rehearsal', policy: { threshold } });
    const stock = await stockUp(store.shops, 'concert', TICKETS);
    const { history } = await runSale(store.shops, {
      event: 'concert',
      stock,
      policy: { threshold },
    });
    return verifySales(history, { threshold });
  } finally {
    await store.close();
  }
}

/** The first time, the server may be downloaded. */
const DOWNLOAD_MS = 300_000;
let missing: string | undefined;

beforeAll(async () => {
  await findPostgres(() => {}).catch((error: unknown) => (missing = reasonToSkip(error)));
}, DOWNLOAD_MS);
beforeEach((context) => context.skip(missing !== undefined, missing));

test.each([[['ireland', 'frankfurt', 'ireland', 'frankfurt']], [['ireland', 'virginia']]] as const)(
  'retailers at %j, each with a binding of its own, only the safe threshold → no ticket revoked',
  async (sites) => {
    const verdict = await sell(sites, 0);
    expect(verdict).toMatchObject({ tickets: TICKETS, confirmed: TICKETS, ...NO_FAULT });
    expect(verdict.confirmedEarly).toBeGreaterThan(0);
  },
);

test('one retailer → most answers early', async () => {
  const verdict = await sell(['frankfurt'], 0);
  expect(verdict).toMatchObject({ tickets: TICKETS, confirmed: TICKETS, ...NO_FAULT });
  // On a busy machine a final view may overtake a preliminary one.
  expect(verdict.confirmedEarly).toBeGreaterThanOrEqual(TICKETS - 20);
});

test('ads → nothing wrong delivered, and faster than without speculation', async () => {
  const options = {
    binding: 'postgres',
    scale: 0.001,
    seed: 1,
    client: 'ireland',
    wan: 'paper',
  } as const;
  const deployment = await deployAds({ ...options, cassandra: undefined }, () => {});
  try {
    const extent = { workload: 'A', seconds: 2, workers: 4, seed: 1, warmUpPairs: 0 } as const;
    const contest = await runAbComparison({ ...deployment, ...extent });
    const { wrongDeliveries, latencyReduction, possibleReduction } = compare(contest);
    expect(wrongDeliveries).toBe(0);
    // The benchmark measures how much: a busy machine delays both ways.
    expect(possibleReduction).toBeGreaterThan(0);
    expect(latencyReduction).toBeGreaterThan(0);
    expect(new Set(contest.history.map(({ kind }) => kind))).toEqual(
      new Set(['preliminary', 'final', 'delivered']),
    );
  } finally {
    await deployment.close();
  }
});
