/** What dead consumers leave: late claims without items, and claims that cannot be recovered. */
import { expect, test } from 'vitest';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import { enqueue } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, ITEMS, open, outcomeOf, QUEUE, sale, stock } from '../set-up.ts';

/** What a consumer leaves that died after so many claims. */
async function leaveClaims(ensemble: FakeEnsemble, queue: string, count: number): Promise<void> {
  await using zk = new ZooKeeper(ensemble.connectString);
  for (let n = 1; n <= count; n += 1) {
    await zk.create(`/correctables/queues/${queue}/c/dead.${n}-`, null, {
      mode: 'persistent-sequential',
    });
  }
}

test.each(['at-most-once', 'at-least-once'] as const)(
  '%s: late claims of a dead seller → ended with fillers; what is put in next is sold',
  async (delivery) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble);
    await stock(shop, 1);
    await sale(shop);
    await leaveClaims(ensemble, QUEUE, 6);
    expect(await shop.binding.recoverOrphans(delivery)).toBe(6);
    // What was sold is removed in its own time.
    await expect
      .poll(() => [ensemble.children(ITEMS), ensemble.children(CLAIMS)])
      .toEqual([[], []]);
    await stock(shop, 8);
    expect(await drain(shop)).toHaveLength(8);
  },
);

test('a claim of a live seller that has not read its item yet → stays, and the item is sold once', async () => {
  await using ensemble = await FakeEnsemble.start(2);
  await using seller = open(ensemble, { servers: ensemble.at(0).address });
  await using other = open(ensemble, { servers: ensemble.at(1).address });
  await stock(other, 2);
  let read: () => void = () => {};
  const until = new Promise<void>((resolve) => (read = resolve));
  ensemble.at(0).onRequest = ({ path }) => (path.startsWith(`${ITEMS}/`) ? { until } : undefined);
  const selling = sale(seller);
  await expect.poll(() => ensemble.children(CLAIMS)).toHaveLength(1);
  for (const delivery of ['at-least-once', 'at-most-once'] as const) {
    expect(await other.binding.recoverOrphans(delivery)).toBe(0);
  }
  read();
  expect(await selling).toBe('T0');
  expect(await drain(other)).toEqual(['T1']);
});

test('several janitors at once → each claim ended once', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await using other = open(ensemble);
  await stock(shop, 3);
  await leaveClaims(ensemble, QUEUE, 5);
  const rounds = [shop, other].map(({ binding }) => binding.recoverOrphans('at-least-once'));
  expect((await Promise.all(rounds)).reduce((sum, item) => sum + item)).toBe(5);
  expect((await drain(shop)).toSorted()).toEqual(['T0', 'T1', 'T2']);
});

test('one claim that cannot be recovered → the others are, and that one is reported', async () => {
  await using ensemble = await FakeEnsemble.start();
  const errors: unknown[] = [];
  await using shop = open(ensemble, { onBackgroundError: (error) => errors.push(error) });
  const queues = ['a', 'b', 'c'];
  for (const queue of queues) await shop.client.invokeStrong(enqueue(queue, 'TICKET'));
  for (const queue of queues) await leaveClaims(ensemble, queue, 1);
  ensemble.server.onRequest = ({ path }) =>
    path.startsWith('/correctables/queues/a/c/dead') ? { error: -102 } : undefined;
  await expect(shop.binding.recoverOrphans('at-least-once')).rejects.toMatchObject({
    name: 'CorrectableError',
    message: expect.stringMatching(/1 could not be recovered \(2 were\): NO_AUTH/) as string,
  });
  expect(
    ['b', 'c'].flatMap((queue) => ensemble.children(`/correctables/queues/${queue}/c`)),
  ).toEqual([]);
  await using janitor = open(ensemble, {
    orphanRecovery: { delivery: 'at-least-once', intervalMs: 10 },
    onBackgroundError: (error) => errors.push(error),
  });
  await janitor.binding.whenConnected();
  await expect.poll(() => errors.length).toBeGreaterThan(1);
  ensemble.server.onRequest = undefined;
  await expect.poll(() => ensemble.children('/correctables/queues/a/c')).toEqual([]);
});

test('an item so large that it could not be put back → refused when it is put in', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  const reported = await outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, 'x'.repeat(999_900))));
  expect(reported).toBe('INVALID_ARGUMENT');
  let size = 999_900;
  for (; ; size -= 10) {
    const put = await outcomeOf(shop.client.invokeStrong(enqueue(QUEUE, 'x'.repeat(size))));
    if (put === undefined) break;
  }
  expect(size).toBeGreaterThan(999_000);
  await leaveClaims(ensemble, QUEUE, 1);
  expect(await shop.binding.recoverOrphans('at-least-once')).toBe(1);
  expect(await drain(shop)).toEqual(['x'.repeat(size)]);
});

test('a claim whose item is gone → is ended too', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 1);
  await leaveClaims(ensemble, QUEUE, 1);
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.delete(`${ITEMS}/-0000000000`);
  expect(await shop.binding.recoverOrphans('at-least-once')).toBe(1);
  expect(ensemble.children(CLAIMS)).toEqual([]);
});
