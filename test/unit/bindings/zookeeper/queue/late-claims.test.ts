/** Claims that came before their items: each adds one filler, and none is too many. */
import { expect, test } from 'vitest';
import { queueLength } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, ITEMS, open, QUEUE, sale, stock } from '../set-up.ts';

/** How many nodes were ever made below another. */
function everMade(ensemble: FakeEnsemble, path: string): number {
  return ensemble.leader.tree.nodes.get(path)?.creates ?? 0;
}

test.concurrent('sell-out by several sellers at once → as many fillers as late claims, all get null', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 2, fromLeaderMs: 2 });
  const shops = Array.from({ length: 4 }, () => open(ensemble));
  await stock(shops[0]!, 40);
  const reported = await Promise.all(
    shops.flatMap((shop) => Array.from({ length: 50 }, () => sale(shop))),
  );
  expect(reported.filter((item) => item !== null).toSorted()).toEqual(
    Array.from({ length: 40 }, (_, n) => `T${n}`).toSorted(),
  );
  expect(reported.filter((item) => item === null)).toHaveLength(160);
  expect(everMade(ensemble, CLAIMS)).toBeLessThanOrEqual(200);
  expect(everMade(ensemble, ITEMS)).toBe(everMade(ensemble, CLAIMS));
  expect(await shops[0]!.client.invokeStrong(queueLength(QUEUE))).toBe(0);
  await Promise.all(shops.map(({ client }) => client.close()));
  expect([ensemble.children(ITEMS), ensemble.children(CLAIMS)]).toEqual([[], []]);
});

test.concurrent('a dead seller owes fillers → made up for, once nothing has moved for a while', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 2);
  expect(await sale(shop)).toBe('T0');
  await using other = open(ensemble);
  expect(await sale(other)).toBe('T1');
  // The shop believes that one is left, and is late by three: those before it will never be filled
  // by their owner.
  for (let n = 1; n <= 3; n += 1) await deadClaim(ensemble, n);
  const late = sale(shop);
  expect(await late).toBeNull();
  expect(everMade(ensemble, ITEMS)).toBeLessThanOrEqual(7);
  await stock(other, 1);
});

test.concurrent('restocked while claims are late → every item is sold', async () => {
  await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 2, fromLeaderMs: 2 });
  const shops = Array.from({ length: 3 }, () => open(ensemble));
  await stock(shops[0]!, 20);
  const sales = Promise.all(shops.flatMap((shop) => Array.from({ length: 20 }, () => sale(shop))));
  await stock(shops[1]!, 20);
  const reported = [...(await sales), ...(await drain(shops[2]!))].filter((item) => item !== null);
  expect(reported).toHaveLength(40);
  await Promise.all(shops.map(({ client }) => client.close()));
});

/** A claim of a consumer that is not there. */
async function deadClaim(ensemble: FakeEnsemble, n: number): Promise<void> {
  const { ZooKeeper } = await import('../../../../../src/bindings/zookeeper/index.ts');
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create(`${CLAIMS}/dead.${n}-`, null, { mode: 'persistent-sequential' });
}
