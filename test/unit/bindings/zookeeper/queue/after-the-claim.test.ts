/**
 * Failures after an item has been taken: retried, or reported as unknown, and the item is not lost.
 * Some tests wait long, beside the others.
 */
import { expect, test } from 'vitest';
import { OP } from '../../../../../src/bindings/zookeeper/client/requests.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import type { Seen } from '../../../../support/zookeeper-server/server.ts';
import { CLAIMS, drain, ITEMS, open, sale, stock } from '../set-up.ts';

const isItemRead = ({ type, path }: Seen): boolean => type === OP.getData && path.startsWith(ITEMS);
const ERRORS = { THROTTLED: -127, REQUEST_TIMEOUT: -122, OPERATION_TIMEOUT: -7 };

test.concurrent.each(Object.entries(ERRORS))(
  'the read of the item is answered %s, twice → retried, and sold',
  async (_name, error) => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble);
    await stock(shop, 3);
    let rejections = 2;
    ensemble.server.onRequest = (seen) =>
      isItemRead(seen) && rejections-- > 0 ? { error } : undefined;
    expect(await drain(shop)).toEqual(['T0', 'T1', 'T2']);
  },
);

test.concurrent(
  'the item cannot be read at all → UNKNOWN, never "not done"; the next dequeue has it',
  { timeout: 30_000 },
  async () => {
    await using ensemble = await FakeEnsemble.start();
    await using shop = open(ensemble);
    await stock(shop, 2);
    ensemble.server.onRequest = (seen) =>
      isItemRead(seen) ? { error: ERRORS.THROTTLED } : undefined;
    expect(await sale(shop)).toBe('UNKNOWN');
    ensemble.server.onRequest = undefined;
    expect(await drain(shop)).toEqual(['T0', 'T1']);
  },
);

test.concurrent('the item may not be read → UNKNOWN, and the others are sold', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 2);
  ensemble.server.onRequest = (seen) =>
    isItemRead(seen) && seen.path.endsWith('0') ? { error: -102 } : undefined;
  expect(await sale(shop)).toBe('UNKNOWN');
  expect(await drain(shop)).toEqual(['T1']);
});

test.concurrent('an item that the codec cannot read → UNKNOWN, and the others are sold', async () => {
  await using ensemble = await FakeEnsemble.start();
  const codec = {
    encode: (value: unknown) => Buffer.from(String(value)),
    decode(bytes: Uint8Array) {
      if (Buffer.from(bytes).toString() === 'T0') throw new RangeError('not mine');
      return Buffer.from(bytes).toString();
    },
  };
  await using shop = open(ensemble, { codec });
  await stock(shop, 2);
  expect(await sale(shop)).toBe('UNKNOWN');
  expect(await drain(shop)).toEqual(['T1']);
});

test.concurrent(
  'closed before a taken item could be read → UNKNOWN, and the item is put back',
  { timeout: 30_000 },
  async () => {
    await using ensemble = await FakeEnsemble.start();
    const shop = open(ensemble);
    await stock(shop, 2);
    ensemble.server.onRequest = (seen) =>
      isItemRead(seen) ? { error: ERRORS.THROTTLED } : undefined;
    expect(await sale(shop)).toBe('UNKNOWN');
    ensemble.server.onRequest = undefined;
    await shop.client.close();
    expect(ensemble.children(CLAIMS)).toEqual([]);
    await using next = open(ensemble);
    expect(await drain(next)).toEqual(['T1', 'T0']);
  },
);

test.concurrent('before the claim: the registration is lost with its reply → reported neither as done nor as unknown', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using maker = open(ensemble);
  await stock(maker, 1);
  await using shop = open(ensemble);
  ensemble.server.onRequest = ({ path }) =>
    path.startsWith('/correctables/consumers/') ? { error: -127 } : undefined;
  expect(await sale(shop)).toBe('OVERLOADED, retryable');
  ensemble.server.onRequest = undefined;
  expect(await sale(shop)).toBe('T0');
});

test.concurrent('a claim is rejected → reported, and nothing was taken', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 1);
  ensemble.server.onRequest = ({ type, path }) =>
    type === OP.create && path.startsWith(CLAIMS) ? { error: ERRORS.THROTTLED } : undefined;
  expect(await sale(shop)).toBe('OVERLOADED, retryable');
  ensemble.server.onRequest = undefined;
  expect(await drain(shop)).toEqual(['T0']);
});

test.concurrent('a claim is made, but its reply is lost → found, and sold once', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await stock(shop, 2);
  let isFirst = true;
  ensemble.server.onRequest = ({ type, path }) => {
    if (type !== OP.create || !path.startsWith(CLAIMS) || !isFirst) return undefined;
    isFirst = false;
    return { cut: 'after' };
  };
  expect(await drain(shop)).toEqual(['T0', 'T1']);
});
