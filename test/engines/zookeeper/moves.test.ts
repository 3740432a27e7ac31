/**
 * A session that loses its connection twice in a row and moves to an observer, while what it sent
 * before is being agreed on: servers match commits to waiting requests by session and request
 * number alone.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SITES } from '../../../engines/wan.ts';
import {
  ZooKeeper,
  zookeeper,
  type ZooKeeperLevels,
} from '../../../src/bindings/zookeeper/index.ts';
import { createClient, isCorrectableError, type Client } from '../../../src/index.ts';
import { dequeue, enqueue } from '../../../src/operations/index.ts';
import { CuttableRoute } from '../support/cuttable-route.ts';
import { withEnsemble } from '../support/zookeeper.ts';

const cluster = withEnsemble({ wan: 'paper', observer: 'frankfurt' });
const SEQUENTIAL = { mode: 'persistent-sequential' } as const;
const ITEMS = ['T0', 'T1', 'T2', 'T3', 'T4'];
/**
 * When the second connection is lost, after the requests were sent: about when they are being
 * agreed on.
 */
const MOMENTS_MS = process.env['ENGINES_SHORT'] === '1' ? [14] : [10, 12, 14, 16, 18];
/** For a session to settle at a server. */
const SETTLED_MS = 400;

test.each(MOMENTS_MS)(
  'client: a create on its way, a move after %i ms → the next create has a node of its own',
  async (moment) => {
    const { ensemble } = cluster;
    await using admin = new ZooKeeper(ensemble.address('ireland'));
    await admin.create(`/moved-${moment}`, null);
    await using ireland = await CuttableRoute.open(ensemble.address('ireland'), 10);
    await using zk = new ZooKeeper(`${ireland.address},${ensemble.address('frankfurt')}`);
    await zk.whenConnected();
    await pause(SETTLED_MS);
    const first = zk.create(`/moved-${moment}/-`, 'first', SEQUENTIAL).catch(() => undefined);
    await pause(moment);
    zk.preferServer(ensemble.address('frankfurt'));
    const second = await zk.create(`/moved-${moment}/-`, 'second', SEQUENTIAL);
    await first;
    expect(Buffer.from((await admin.get(second)).data ?? []).toString()).toBe('second');
  },
);

test.each(MOMENTS_MS)(
  'queue: two losses, the second after %i ms → each item sold once, every server lives',
  async (moment) => {
    const { ensemble } = cluster;
    const root = `/losses-${moment}`;
    await using ireland = await CuttableRoute.open(ensemble.address('ireland'), 10);
    await using frankfurt = await CuttableRoute.open(ensemble.address('frankfurt'), 0);
    await using other = createClient(zookeeper({ servers: ensemble.address('ireland'), root }));
    for (const item of ITEMS) await other.invokeStrong(enqueue('concert', item));
    const sold: unknown[] = [];
    {
      await using shop = createClient(
        zookeeper({ servers: `${ireland.address},${frankfurt.address}`, root }),
      );
      sold.push(await sale(shop));
      await pause(SETTLED_MS);
      frankfurt.down();
      ireland.cut();
      await pause(SETTLED_MS);
      frankfurt.up();
      const sales = [sale(shop), sale(shop)];
      const stocking = shop.invokeStrong(enqueue('concert', 'T5')).catch((error: unknown) => error);
      await pause(moment);
      ireland.down();
      sold.push(...(await Promise.all(sales)));
      const stocked = await stocking;
      expect(stocked === undefined || isCorrectableError(stocked, 'UNKNOWN')).toBe(true);
    }
    for (let item = await sale(other); item !== null; item = await sale(other)) sold.push(item);
    expect(sold.filter((item) => item !== 'T5').toSorted()).toEqual(ITEMS);
    expect(SITES.filter((site) => !ensemble.isRunning(site))).toEqual([]);
    const logs = SITES.map((site) =>
      readFileSync(join(ensemble.state.folder, `${site}.log`), 'utf8'),
    );
    expect(logs.filter((log) => log.includes('Severe unrecoverable error'))).toEqual([]);
  },
);

async function sale(client: Client<ZooKeeperLevels>): Promise<string | null> {
  return (await client.invokeStrong(dequeue<string>('concert')))?.item ?? null;
}
