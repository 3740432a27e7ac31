/**
 * A queue that an operator has deleted, and that was created again, while bindings live: it is
 * another queue.
 */
import { expect, test } from 'vitest';
import { dequeue, enqueue } from '../../../../../src/operations/index.ts';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import {
  caughtUp,
  CLAIMS,
  come,
  drain,
  ITEMS,
  open,
  outcomeOf,
  QUEUE,
  sale,
  stock,
  type Shop,
} from '../set-up.ts';

const THROTTLED = -127;

/** Deletes the queue as `deleteall` does; sellers may be cleaning up beside. */
async function deleteAll(ensemble: FakeEnsemble, server = ensemble.server): Promise<void> {
  await using zk = new ZooKeeper(server.address);
  for (const path of [ITEMS, CLAIMS]) {
    for (const name of ensemble.children(path)) await zk.delete(`${path}/${name}`).catch(() => {});
    await zk.delete(path);
  }
  await zk.delete(`/correctables/queues/${QUEUE}`);
}

/** Takes some, with guesses, so that items are read ahead. */
async function sellSome({ client }: Shop, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await client.invoke(dequeue(QUEUE));
}

test('created again by another client → no old item is sold, all new ones are, and no claim is wasted', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using seller = open(ensemble);
  await using other = open(ensemble);
  await stock(seller, 30);
  await sellSome(seller, 10);
  await deleteAll(ensemble);
  await stock(other, 5);
  expect(await drain(seller)).toEqual(['T0', 'T1', 'T2', 'T3', 'T4']);
  await stock(other, 20);
  await using fresh = open(ensemble);
  expect(await drain(fresh)).toHaveLength(20);
  const { creates: claims = 0 } = ensemble.leader.tree.nodes.get(CLAIMS) ?? {};
  expect(claims).toBe(25);
});

test('deleted and not created again → null, and the seller goes on once it is created', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using seller = open(ensemble);
  await stock(seller, 10);
  await sellSome(seller, 3);
  await deleteAll(ensemble);
  expect(await sale(seller)).toBeNull();
  await stock(seller, 2);
  expect(await drain(seller)).toEqual(['T0', 'T1']);
});

test('created again behind a lost connection → noticed all the same', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using seller = open(ensemble, { servers: ensemble.at(0).address });
  await using other = open(ensemble, { servers: ensemble.at(1).address });
  await stock(other, 30);
  await sellSome(seller, 10);
  ensemble.at(0).connectionsMax = 0;
  ensemble.at(0).cut();
  await deleteAll(ensemble, ensemble.at(1));
  await stock(other, 40);
  ensemble.at(0).connectionsMax = Infinity;
  const sold = await drain(seller);
  expect(sold).toEqual(Array.from({ length: 40 }, (_, n) => `T${n}`));
});

test('cleaning up after the old queue → takes nothing of the new one', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using seller = open(ensemble, { servers: ensemble.at(0).address });
  await using other = open(ensemble, { servers: ensemble.at(1).address });
  await stock(other, 3);
  ensemble.at(0).onRequest = ({ type }) => {
    // What it has taken it removes too late.
    if (type === OP.multi) ensemble.at(0).toLeader.hold();
    return undefined;
  };
  expect(await sale(seller)).toBe('T0');
  await come(ensemble.at(0), 1, ({ type }) => type === OP.multi);
  await deleteAll(ensemble, ensemble.at(1));
  await stock(other, 3);
  ensemble.at(0).onRequest = undefined;
  ensemble.at(0).toLeader.release();
  await caughtUp(ensemble.at(0));
  expect(ensemble.children(ITEMS)).toHaveLength(3);
  expect(await drain(other)).toEqual(['T0', 'T1', 'T2']);
});

test('only the claims deleted → they are made again, and nothing is lost but what they had taken', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using seller = open(ensemble);
  await stock(seller, 4);
  expect(await sale(seller)).toBe('T0');
  await expect.poll(() => ensemble.children(CLAIMS)).toEqual([]);
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.delete(CLAIMS);
  expect(await outcomeOf(sale(seller))).toBe('T1');
  expect(await drain(seller)).toEqual(['T2', 'T3']);
});

test('a guess in the old queue, a claim of the same number in the new one → the item of the new one', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using seller = open(ensemble, { servers: ensemble.at(0).address });
  await using other = open(ensemble, { servers: ensemble.at(1).address });
  await stock(other, 1);
  expect(await sale(seller)).toBe('T0');
  await deleteAll(ensemble, ensemble.at(1));
  await other.client.invokeStrong(enqueue(QUEUE, 'old'));
  await caughtUp(ensemble.at(0));
  // The claim is in flight when the queue is deleted, and arrives when it has been created again.
  ensemble.at(0).toLeader.hold();
  const views: unknown[] = [];
  const selling = (async () => {
    for await (const { level, value } of seller.client.invoke(dequeue<string>(QUEUE)))
      views.push([level, value?.item]);
  })();
  await expect.poll(() => views).toEqual([['weak', 'old']]);
  await deleteAll(ensemble, ensemble.at(1));
  await other.client.invokeStrong(enqueue(QUEUE, 'new'));
  ensemble.at(0).toLeader.release();
  await selling;
  expect(views).toEqual([
    ['weak', 'old'],
    ['strong', 'new'],
  ]);
});

test('the queue’s node changes while an item is being read, then the queue is created again → not the item of another', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using seller = open(ensemble);
  await using other = open(ensemble);
  await stock(other, 2);
  expect(await sale(seller)).toBe('T0');
  let reads = 0;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.getData || !path.startsWith(ITEMS)) return undefined;
    reads -= 1;
    return reads >= 0 ? undefined : { error: THROTTLED };
  };
  const selling = sale(seller);
  await expect.poll(() => ensemble.leader.tree.nodes.get(CLAIMS)?.creates).toBe(2);
  // The watch that hears of the queue's end is used up, and the item looked for once more.
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.set(ITEMS, 'changed');
  reads = 1;
  await expect.poll(() => reads).toBeLessThan(0);
  await deleteAll(ensemble);
  for (const item of ['new-0', 'new-1']) await other.client.invokeStrong(enqueue(QUEUE, item));
  reads = Infinity;
  expect(await selling).toBe('new-0');
  expect(await drain(other)).toEqual(['new-1']);
});
