/**
 * Preliminary views that fail, are cut off, or come too late: the write is made all the same, with
 * its final view.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { queueLength, ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import {
  dequeue,
  enqueue,
  getRemaining,
  getSafeThreshold,
} from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import type { Fault } from '../../../../support/zookeeper-server/server.ts';
import {
  drain,
  ITEMS,
  open,
  pause,
  QUEUE,
  sale,
  stock,
  findLastWriter,
  type Shop,
} from '../set-up.ts';

const FAULTS: Readonly<Record<string, Fault>> = {
  fails: { error: -127 },
  'is cut off': { cut: 'before' },
  'does not come': { until: new Promise(() => {}) },
};
const READS: readonly number[] = [OP.exists, OP.getData];

/** From now on this becomes of whatever the reader asks. */
function spoilGuesses(ensemble: FakeEnsemble, fault: Fault): void {
  const writer = findLastWriter(ensemble);
  ensemble.server.onRequest = ({ session, type }) =>
    session !== writer && READS.includes(type) ? fault : undefined;
}

test.concurrent.each(Object.entries(FAULTS))(
  'dequeue, only a guess asked for, which %s → the item, once',
  async (_what, fault) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble, { sessionTimeoutMs: 1_000 });
    await stock(shop, 4);
    spoilGuesses(ensemble, fault);
    const got: unknown[] = [];
    for (let n = 0; n < 5; n += 1) got.push(await shop.client.invokeWeak(dequeue(QUEUE)));
    expect(got).toEqual([...['T0', 'T1', 'T2', 'T3'].map((item) => ({ item })), null]);
  },
);

test.concurrent.each(Object.entries(FAULTS))(
  'enqueue, only a guess asked for, which %s → added, once',
  async (_what, fault) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble, { sessionTimeoutMs: 1_000 });
    await stock(shop, 1);
    spoilGuesses(ensemble, fault);
    for (let n = 1; n < 4; n += 1) await shop.client.invokeWeak(enqueue(QUEUE, `T${n}`));
    ensemble.server.onRequest = undefined;
    expect(await drain(shop)).toEqual(['T0', 'T1', 'T2', 'T3']);
  },
);

test('dequeue, a guess of nothing was all that was asked for, and it was wrong → the item is for the next', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using other = open(ensemble, { servers: ensemble.at(1).address });
  await using shop = open(ensemble, { servers: ensemble.at(0).address });
  await stock(other, 1);
  expect(await sale(shop)).toBe('T0');
  // The reader's server has not heard of the next item yet, the leader has.
  ensemble.at(0).fromLeader.delayMs = 40;
  await pause(60);
  await stock(other, 1);
  expect(await shop.client.invokeWeak(dequeue(QUEUE))).toBeNull();
  await pause(200);
  expect(await sale(shop)).toBe('T0');
  expect(await other.client.invokeStrong(queueLength(QUEUE))).toBe(0);
});

/**
 * Dequeues `customers` times at once. Returns how many had an early view of enough, and `null` in
 * the end.
 */
async function brokenPromises({ client }: Shop, customers: number): Promise<number> {
  let broken = 0;
  const buy = async (): Promise<void> => {
    let isPromised = false;
    const ticket = await client.invoke(dequeue(QUEUE)).onUpdate((value, view) => {
      isPromised = value !== null && getRemaining(view) >= getSafeThreshold(view);
    });
    if (isPromised && ticket === null) broken += 1;
  };
  await Promise.all(Array.from({ length: customers }, buy));
  return broken;
}

test.each(['that has not looked yet', 'that has sold out before'])(
  'dequeue, many customers at once of a binding %s → each counts those before it',
  async (which) => {
    await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 5, fromLeaderMs: 5 });
    await using shop = open(ensemble);
    await using stocker = open(ensemble);
    await stock(stocker, 1);
    if (which === 'that has sold out before') expect(await drain(shop)).toEqual(['T0']);
    await stock(stocker, 10);
    await shop.binding.getMinThreshold();
    expect(await brokenPromises(shop, 40)).toBe(0);
  },
);

test.each([
  ['items alone', [], false],
  ['a filler at the end', [null], true],
])(
  'dequeue of a queue with %s, others take too → a threshold is safe unless fillers count as left',
  async (...row) => {
    const [, fillers, isUnsafe] = row;
    await using ensemble = await FakeEnsemble.start();
    const pace = { maxInFlight: 2, minSlotIntervalMs: 300 };
    await using other = open(ensemble, pace);
    await using shop = open(ensemble, pace);
    await stock(shop, 4);
    expect([await sale(other), await sale(shop)]).toEqual(['T0', 'T1']);
    await using zk = new ZooKeeper(ensemble.connectString);
    for (const data of fillers)
      await zk.create(`${ITEMS}/-`, data, { mode: 'persistent-sequential' });
    const safeFrom: number[] = [];
    let endWait = (): void => {};
    const until = new Promise<void>((resolve) => (endWait = resolve));
    // Where the write is answered before the reader, there is no guess.
    const writer = findLastWriter(ensemble);
    ensemble.server.onRequest = ({ session }) => (session === writer ? { until } : undefined);
    await shop.client.invoke(dequeue(QUEUE)).onUpdate((_, view) => {
      if (view.level === 'weak') safeFrom.push(getSafeThreshold(view));
      endWait();
    });
    expect(safeFrom).toEqual([isUnsafe ? Infinity : expect.closeTo(4, -1)]);
  },
);
