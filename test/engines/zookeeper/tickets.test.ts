/**
 * The ticket shop on a real ensemble: unchanged application code, retailers in one process and at
 * different sites.
 */
import { expect, test } from 'vitest';
import { verifySales, type Verdict } from '../../../demo/tickets/verify/verify-sales.ts';
import type { Shop } from '../../../demo/tickets/purchase.ts';
import { runSale, stockUp, type SalePolicy } from '../../../demo/tickets/sale.ts';
import { zookeeper, type ZooKeeperBinding } from 'correctables/bindings/zookeeper';
import { createClient } from 'correctables';
import type { Throttle } from 'correctables/operations';
import type { Site } from '../../../engines/wan.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const TICKETS = 300;
const PACE: Throttle = { maxInFlight: 10, minSlotIntervalMs: 40 };
const cluster = withEnsemble({ wan: 'paper' });

interface Shops {
  readonly root: string;
  /** A retailer each, with a binding of its own. */
  readonly sites: readonly Site[];
  readonly pace?: Throttle;
}

function bindingsOf({ root, sites, pace = PACE }: Shops): readonly ZooKeeperBinding[] {
  return sites.map((site) =>
    zookeeper({ servers: cluster.ensemble.connectString(site), root, ...pace }),
  );
}

/**
 * Sells twice: the first time the bindings find out about each other, and how long agreement takes.
 */
async function sell(shops: readonly Shop[], policy: SalePolicy): Promise<Verdict> {
  await stockUp(shops, 'rehearsal', 40);
  await runSale(shops, { event: 'rehearsal', policy });
  const stock = await stockUp(shops, 'concert', TICKETS);
  const { history } = await runSale(shops, { event: 'concert', stock, policy });
  await Promise.all([...new Set(shops)].map((shop) => shop.close()));
  return verifySales(history, policy);
}

const NO_FAULT = { revoked: 0, contradicted: 0, oversold: 0, duplicates: 0, unknown: 0, lost: 0 };
const FAULTLESS = { tickets: TICKETS, confirmed: TICKETS, ...NO_FAULT };

test.each([20, 0])(
  'tickets: retailers of one process, threshold %d → no ticket revoked, most answers early',
  async (threshold) => {
    const servers = cluster.ensemble.connectString('frankfurt');
    const shop: Shop = createClient(zookeeper({ servers, root: `/one-${threshold}` }));
    const verdict = await sell([shop, shop, shop, shop], { threshold });
    expect(verdict).toMatchObject(FAULTLESS);
    // On a busy machine a final view may overtake a preliminary one.
    expect(verdict.confirmedEarly).toBeGreaterThanOrEqual(TICKETS - threshold - 20);
  },
);

test.each([
  [['ireland', 'frankfurt', 'virginia', 'frankfurt']],
  [['ireland', 'virginia']],
  [['frankfurt', 'frankfurt', 'frankfurt', 'frankfurt']],
] as const)(
  'tickets: retailers at %j, each with a binding of its own, only the safe threshold → no ticket revoked',
  async (sites) => {
    const shops = bindingsOf({ root: `/at-${sites.join('-')}`, sites }).map((binding): Shop =>
      createClient(binding),
    );
    const verdict = await sell(shops, { threshold: 0 });
    expect(verdict).toMatchObject(FAULTLESS);
    expect(verdict.confirmedEarly).toBeGreaterThan(0);
  },
);

test('tickets: bindings without a pace → no bound on other takes, so no early answer', async () => {
  const shops = bindingsOf({
    root: '/unpaced',
    sites: ['ireland', 'virginia'],
    pace: { maxInFlight: 100, minSlotIntervalMs: 0 },
  });
  const verdict = await sell(
    shops.map((binding): Shop => createClient(binding)),
    { threshold: 0 },
  );
  expect(verdict).toMatchObject({ ...FAULTLESS, confirmedEarly: 0 });
});

test('getMinThreshold: alone 0; others alive → what they may take, more the farther away from the leader', async () => {
  const bindings = bindingsOf({ root: '/least', sites: ['ireland', 'virginia'] });
  const clients = bindings.map((binding): Shop => createClient(binding));
  const [near, far] = bindings as [ZooKeeperBinding, ZooKeeperBinding];
  await stockUp(clients, 'concert', 2);
  expect(await near.getMinThreshold()).toBe(0);
  await runSale(clients, { event: 'concert', policy: { threshold: 20 } });
  // A full window, and one for each turn within the time that a claim takes: at least 83 ms from
  // Virginia.
  expect(await near.getMinThreshold()).toBeGreaterThanOrEqual(20);
  expect(await far.getMinThreshold()).toBeGreaterThanOrEqual(40);
  await Promise.all(clients.map((client) => client.close()));
});
