/** The number of the next child, over all answers, whatever the counter of the server does. */
import { expect, test } from 'vitest';
import {
  NextNumber,
  computeNextNumber,
} from '../../../../../src/bindings/zookeeper/queue/next-number.ts';
import { queueLength } from '../../../../../src/bindings/zookeeper/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, ITEMS, open, QUEUE, stock } from '../set-up.ts';

const HALF = 2 ** 30;
/** As `DataNode.copyStat` counts: in 32 bits. */
const stat = (made: number, left: number) => ({
  cversion: (2 * made - left) | 0,
  numChildren: left,
});

test.each([0, 1, HALF - 1, HALF, HALF + 5, 2 ** 31 - 1])(
  '%i children ever made → that number is next',
  (made) => {
    for (const left of [0, 1, 2, 100]) expect(computeNextNumber(stat(made, left))).toBe(made);
  },
);

test('replies of one node → the highest; of one created again → its own; of the old one → ignored', () => {
  const next = new NextNumber();
  expect(next.value).toBeUndefined();
  expect(next.observeStat(null)).toBe(false);
  expect(next.value).toBe(0);
  const observe = (czxid: bigint, made: number): [boolean, number | undefined] => [
    next.observeStat({ czxid, ...stat(made, 0) }),
    next.value,
  ];
  expect(observe(5n, 7)).toEqual([false, 7]);
  expect(observe(5n, 3)).toEqual([false, 7]);
  expect(observe(9n, 2)).toEqual([true, 2]);
  expect(observe(5n, 8)).toEqual([false, 2]);
});

test('a node that is gone → answers of servers that still have it say nothing', () => {
  const next = new NextNumber();
  next.observeStat({ czxid: 5n, ...stat(7, 0) });
  next.reset();
  expect(next.value).toBeUndefined();
  expect(next.observeStat({ czxid: 5n, ...stat(8, 0) })).toBe(false);
  expect(next.value).toBe(0);
  expect(next.observeStat({ czxid: 6n, ...stat(1, 0) })).toBe(true);
  expect(next.value).toBe(1);
});

test('a queue past half of the server’s counter → goes on as before', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 1);
  await drain(shop);
  await shop.client.close();
  for (const tree of [ensemble.leader.tree, ensemble.server.tree]) {
    for (const path of [ITEMS, CLAIMS])
      Object.assign(tree.nodes.get(path) ?? {}, { creates: HALF - 2 });
  }
  await using next = open(ensemble);
  await stock(next, 5);
  expect(await next.client.invokeStrong(queueLength(QUEUE))).toBe(5);
  expect(await drain(next)).toEqual(['T0', 'T1', 'T2', 'T3', 'T4']);
});
