/** Closing a binding in use: no item is lost, and every outcome is true. */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { enqueue } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import type { Seen } from '../../../../support/zookeeper-server/server.ts';
import { CLAIMS, come, drain, ITEMS, open, outcomeOf, QUEUE, sale, stock } from '../set-up.ts';

/** Claims, items and values: what cleans up behind them is of no account here. */
const isUpdate = ({ type }: Seen): boolean => type === OP.create || type === OP.setData;

test.each([1, 5, 100])(
  'window %i: closed while many wait → each item sold or still there',
  async (maxInFlight) => {
    await using ensemble = await FakeEnsemble.start(1, { toLeaderMs: 1, fromLeaderMs: 1 });
    const shop = open(ensemble, { maxInFlight });
    await using other = open(ensemble);
    await stock(other, 60);
    const reported: unknown[] = [];
    let closed: Promise<void> | undefined;
    const buy = async (): Promise<void> => {
      reported.push(await sale(shop));
      if (reported.length === 10) closed = shop.client.close();
    };
    await Promise.all(Array.from({ length: 60 }, buy));
    await closed;
    const sold = reported.filter((item) => String(item).startsWith('T'));
    const left = await drain(other);
    expect([...sold, ...left].toSorted()).toEqual(
      Array.from({ length: 60 }, (_, n) => `T${n}`).toSorted(),
    );
    // An operation that failed without effect is not marked as retryable on this closed binding.
    expect(reported.filter((item) => !sold.includes(item) && item !== 'UNAVAILABLE')).toEqual([]);
  },
);

test('answered while closing waits → delivered, and cleaned up', async () => {
  await using ensemble = await FakeEnsemble.start();
  const shop = open(ensemble);
  await stock(shop, 2);
  await sale(shop);
  ensemble.leader.agreement.hold();
  ensemble.server.requests.length = 0;
  const reported = [sale(shop), outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, 'T9')))];
  await come(ensemble.server, 2, isUpdate);
  const closing = shop.client.close();
  ensemble.leader.agreement.release();
  await closing;
  expect(await Promise.all(reported)).toEqual(['T1', undefined]);
  expect([ensemble.children(CLAIMS), ensemble.children(ITEMS)]).toEqual([[], ['-0000000002']]);
});

test('closed twice → once; reads in flight → UNAVAILABLE', async () => {
  await using ensemble = await FakeEnsemble.start();
  const shop = open(ensemble);
  await stock(shop, 1);
  ensemble.server.onRequest = ({ type }) =>
    type === OP.exists ? { until: new Promise(() => {}) } : undefined;
  ensemble.server.requests.length = 0;
  const reported = outcomeOf(
    shop.client.invoke({ name: 'length', args: { queue: QUEUE }, access: 'read' }),
  );
  await come(ensemble.server, 1, ({ type }) => type === OP.exists);
  await Promise.all([shop.binding.close(), shop.binding.close()]);
  expect(await reported).toBe('UNAVAILABLE');
});

test('asked something after closing → UNAVAILABLE, not to be retried', async () => {
  await using ensemble = await FakeEnsemble.start();
  const { binding } = open(ensemble);
  await binding.whenConnected();
  await binding.close();
  const reported = [
    outcomeOf(binding.getMinThreshold()),
    outcomeOf(binding.recoverOrphans('at-least-once')),
  ];
  expect(await Promise.all(reported)).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
});
