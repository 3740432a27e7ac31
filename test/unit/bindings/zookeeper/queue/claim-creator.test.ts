/** Claims whose answers are lost: each is found again, and taken for no other. */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { CLAIMS, drain, open, sale, stock } from '../set-up.ts';

test('several are made, and their answers are lost at once → each finds its own, each item is sold once', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 6);
  expect(await sale(shop)).toBe('T0');
  const { server, leader } = ensemble;
  let made = 0;
  server.onRequest = ({ type, path }) => {
    if (type !== OP.create || !path.startsWith(`${CLAIMS}/`)) return undefined;
    made += 1;
    return made > 3 ? undefined : { cut: 'after' };
  };
  leader.agreement.hold();
  const sales = [1, 2, 3].map(() => sale(shop));
  await expect.poll(() => made).toBe(3);
  leader.agreement.release();
  expect((await Promise.all(sales)).toSorted()).toEqual(['T1', 'T2', 'T3']);
  expect(made).toBe(3);
  expect(await drain(shop)).toEqual(['T4', 'T5']);
});

test('not made, for the connection was cut before → made once, in the order of the items', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 3);
  let requested = 0;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.create || !path.startsWith(`${CLAIMS}/`)) return undefined;
    requested += 1;
    return requested === 1 ? { cut: 'before' } : undefined;
  };
  expect(await sale(shop)).toBe('T0');
  expect(requested).toBe(2);
  expect(await drain(shop)).toEqual(['T1', 'T2']);
});

test('answers are lost twice, one after the other → looked for each time, and both are found', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 4);
  expect(await sale(shop)).toBe('T0');
  let made = 0;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.create || !path.startsWith(`${CLAIMS}/`)) return undefined;
    made += 1;
    return made > 2 ? undefined : { cut: 'after' };
  };
  expect([await sale(shop), await sale(shop)]).toEqual(['T1', 'T2']);
  expect(made).toBe(2);
  expect(await drain(shop)).toEqual(['T3']);
});
