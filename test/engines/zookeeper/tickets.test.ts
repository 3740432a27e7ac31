/** The ticket shop on a real ensemble: unchanged application code, retailers in one process and in several. */
import { expect, test } from 'vitest';
import { count, type Counts } from '../../../demo/tickets/report.ts';
import type { Shop } from '../../../demo/tickets/purchase.ts';
import { runSale, stockUp } from '../../../demo/tickets/sale.ts';
import { minimumThreshold, zookeeper } from 'correctables/bindings/zookeeper';
import { createClient } from 'correctables';
import { withEnsemble } from '../support/zookeeper.ts';

const TICKETS = 200;
const cluster = withEnsemble({ wan: 'paper' });

interface Shops {
  readonly root: string;
  /** How many bindings; retailers of one process share one. */
  readonly bindings: number;
  readonly window: number;
  readonly threshold: number;
}

async function sell({ root, bindings, window, threshold }: Shops): Promise<Counts> {
  const servers = cluster.ensemble.connectString('frk');
  const clients = Array.from({ length: bindings }, (): Shop => createClient(zookeeper({ servers, root, window })));
  const shops = Array.from({ length: 4 }, (_, n) => clients[n % bindings] ?? expect.fail());
  await stockUp(shops, 'concert', TICKETS);
  const { history } = await runSale(shops, { event: 'concert', policy: { threshold } });
  await Promise.all(clients.map((client) => client.close()));
  return count(history, TICKETS);
}

test('tickets: retailers of one process, threshold 20 → nobody revoked, most told early', async () => {
  const figures = await sell({ root: '/one', bindings: 1, window: 100, threshold: 20 });
  expect(figures).toMatchObject({ confirmed: TICKETS, revoked: 0, oversold: 0, duplicates: 0 });
  // On a busy machine a final view may overtake a preliminary one.
  expect(figures.confirmedEarly).toBeGreaterThanOrEqual(TICKETS - 20 - 10);
});

test('tickets: retailers of one process, no threshold → every sale under way is known, nobody revoked', async () => {
  const { revoked, oversold, duplicates } = await sell({ root: '/zero', bindings: 1, window: 100, threshold: 0 });
  expect({ revoked, oversold, duplicates }).toEqual({ revoked: 0, oversold: 0, duplicates: 0 });
});

test('tickets: four processes with a window each, the least threshold → nobody revoked', async () => {
  const window = 5;
  const threshold = minimumThreshold({ sellers: 4, window });
  const { revoked, oversold, duplicates } = await sell({ root: '/four', bindings: 4, window, threshold });
  expect({ revoked, oversold, duplicates }).toEqual({ revoked: 0, oversold: 0, duplicates: 0 });
});

test('leastThreshold: others alive with the same window → what they may have under way', async () => {
  const options = { servers: cluster.ensemble.connectString('frk'), root: '/least', window: 7 };
  const [one, two] = [zookeeper(options), zookeeper(options)];
  const clients: readonly Shop[] = [createClient(one), createClient(two)];
  await stockUp(clients, 'concert', 2);
  expect(await one.leastThreshold()).toBe(0);
  await runSale(clients, { event: 'concert', policy: { threshold: 20 } });
  expect(await one.leastThreshold()).toBe(7);
  await Promise.all(clients.map((client) => client.close()));
});
