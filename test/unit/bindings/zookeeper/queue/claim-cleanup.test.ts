/**
 * Clean-up behind the deliveries: whatever becomes of a batch, nothing that was sold stays, and
 * nothing else goes.
 */
import { expect, test } from 'vitest';
import { ZooKeeper } from '../../../../../src/bindings/zookeeper/index.ts';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, ITEMS, open, sale, stock } from '../set-up.ts';

const left = (ensemble: FakeEnsemble): number[] =>
  [ITEMS, CLAIMS].map((path) => ensemble.children(path).length);

/**
 * Sells so many at once, and calls `meanwhile` before the batch that removes them reaches the
 * leader.
 */
async function soldAndCleaned(
  count: number,
  meanwhile: (zk: ZooKeeper) => Promise<void>,
): Promise<number[]> {
  await using ensemble = await FakeEnsemble.start(2);
  const errors: unknown[] = [];
  await using shop = open(ensemble, {
    servers: ensemble.at(0).address,
    onBackgroundError: (error) => errors.push(error),
  });
  await using janitor = new ZooKeeper(ensemble.at(1).address);
  await stock(shop, count + 1);
  const { toLeader } = ensemble.at(0);
  let batches = 0;
  ensemble.at(0).onRequest = ({ type }) => {
    if (type === OP.multi && (batches += 1) === 1) toLeader.hold();
    return undefined;
  };
  await Promise.all(Array.from({ length: count }, () => sale(shop)));
  await expect.poll(() => batches).toBe(1);
  await meanwhile(janitor);
  toLeader.release();
  await expect.poll(() => left(ensemble)).toEqual([1, 0]);
  expect(errors).toEqual([]);
  expect(await sale(shop)).toBe(`T${count}`);
  return left(ensemble);
}

test('one of a batch is gone already → the others are removed all the same', async () => {
  await soldAndCleaned(5, async (zk) => {
    const [claim = ''] = (await zk.children(CLAIMS)).children.filter((name) =>
      name.endsWith('-0000000002'),
    );
    await zk.delete(`${CLAIMS}/${claim}`);
    await zk.delete(`${ITEMS}/-0000000002`);
  });
});

test('of one the item alone is gone → its claim is removed too', async () => {
  await soldAndCleaned(3, (zk) => zk.delete(`${ITEMS}/-0000000001`));
});

test('the answer of a batch is lost → nothing is removed twice, nothing reported', async () => {
  await using ensemble = await FakeEnsemble.start();
  const errors: unknown[] = [];
  await using shop = open(ensemble, { onBackgroundError: (error) => errors.push(error) });
  await stock(shop, 4);
  let batches = 0;
  ensemble.server.onRequest = ({ type }) =>
    type === OP.multi && (batches += 1) === 1 ? { cut: 'after' as const } : undefined;
  await Promise.all([1, 2, 3].map(() => sale(shop)));
  await expect.poll(() => left(ensemble)).toEqual([1, 0]);
  await expect.poll(() => batches).toBeGreaterThan(1);
  expect(await sale(shop)).toBe('T3');
  expect(errors).toEqual([]);
});
