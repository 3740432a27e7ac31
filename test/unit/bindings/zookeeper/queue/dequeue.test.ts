/** The result of a dequeue whose server lags behind the queue. */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { dequeue } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, ITEMS, open, QUEUE, stock, type Shop } from '../set-up.ts';

interface Behind extends AsyncDisposable {
  readonly seller: Shop;
  readonly other: Shop;
  /** Resolves when the seller’s server has been asked to catch up, and lets it. */
  readonly caughtUp: () => Promise<void>;
}

/** A seller whose server lags from now on, and another client that adds items elsewhere. */
async function behind(): Promise<Behind> {
  const ensemble = await FakeEnsemble.start(2);
  const [late, ahead] = [ensemble.at(0), ensemble.at(1)];
  const seller = open(ensemble, { servers: late.address });
  const other = open(ensemble, { servers: ahead.address });
  await stock(other, 1);
  // With its clean-up, which would wait for the server.
  expect(await drain(seller)).toEqual(['T0']);
  await expect.poll(() => [ensemble.children(ITEMS), ensemble.children(CLAIMS)]).toEqual([[], []]);
  await expect.poll(() => late.tree.zxid).toBe(ahead.tree.zxid);
  const syncs = (): number => late.requests.filter(({ type }) => type === OP.sync).length;
  const before = syncs();
  late.fromLeader.hold();
  return {
    seller,
    other,
    caughtUp: async () => {
      await expect.poll(syncs).toBeGreaterThan(before);
      late.fromLeader.release();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([seller, other].map(({ client }) => client.close()));
      await ensemble.stop();
    },
  };
}

test('an item was added, and the server does not have it yet → the preliminary view is null, the final corrects it', async () => {
  await using shops = await behind();
  const { seller, other, caughtUp } = shops;
  await stock(other, 1);
  const views: unknown[] = [];
  const selling = seller.client.invoke(dequeue<string>(QUEUE));
  selling.subscribe(({ level, value }) => views.push([level, value]));
  await caughtUp();
  await selling;
  expect(views).toEqual([
    ['weak', null],
    ['strong', { item: 'T0' }],
  ]);
});
