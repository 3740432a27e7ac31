/** The ZooKeeper binding keeps the contract of every binding, on a real ensemble. */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { length, zookeeper } from '../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue, get, peek, put } from '../../../src/operations/index.ts';
import { createClient } from '../../../src/index.ts';
import type { OpenBinding } from '../../../src/testing/index.ts';
import { withEnsemble } from '../support/zookeeper.ts';
import { keepsContract } from '../../support/keeps-contract.ts';

const cluster = withEnsemble();
let opened = 0;

async function open(): Promise<OpenBinding> {
  opened += 1;
  const place = { servers: cluster.ensemble.connectString('frk'), root: `/contract-${opened}` };
  return { binding: zookeeper(place), another: async () => zookeeper(place) };
}

keepsContract({ name: 'zookeeper, keys', open, update: put('k', { n: 1 }), read: get('k'), expected: { n: 1 } });

keepsContract({
  name: 'zookeeper, queues',
  open,
  update: enqueue('q/1', 'first'),
  read: peek('q/1'),
  expected: { item: 'first' },
});

test('zookeeper: dequeue: items in the order of their enqueues, then null', async () => {
  const { binding } = await open();
  const client = createClient(binding);
  for (const item of ['a', 'b', 'c']) await client.invoke(enqueue('q', item));
  expect(await client.invoke(length('q'))).toBe(3);
  const items: unknown[] = [];
  for (let n = 0; n < 4; n += 1) items.push(await client.invoke(dequeue('q')));
  expect(items).toEqual([{ item: 'a' }, { item: 'b' }, { item: 'c' }, null]);
  await client.close();
});

test('zookeeper: dequeue: views → a guess with what remains, then the item', async () => {
  const { binding } = await open();
  const client = createClient(binding);
  const items = Array.from({ length: 20 }, (_, n) => `item ${n}`);
  for (const item of items) await client.invoke(enqueue('q', item));
  let guesses = 0;
  let right = 0;
  for (const [n, item] of items.entries()) {
    const views = [];
    for await (const { level, value, meta } of client.invoke(dequeue('q'))) views.push({ level, value, meta });
    const [final, ...early] = views.toReversed();
    const expected = { value: { item }, meta: { remaining: items.length - n - 1 } };
    expect(final).toMatchObject({ level: 'strong', ...expected });
    // Without a wide area in between, the final view may be there first: then nobody needs the other. On a busy machine the
    // claim may be there before the question, which then counts it with those of others: the item after it is guessed.
    for (const { level, value, meta } of early) {
      expect(level).toBe('weak');
      const isRight = isDeepStrictEqual(value, expected.value);
      const left = items.length - n - 2;
      const next =
        left < 0
          ? { value: null, meta: { remaining: 0 } }
          : { value: { item: items[n + 1] }, meta: { remaining: left } };
      expect({ value, meta }).toMatchObject(isRight ? expected : next);
      right += Number(isRight);
    }
    guesses += early.length;
  }
  expect(right).toBeGreaterThan(guesses / 2);
  expect(guesses).toBeLessThanOrEqual(items.length);
  await client.close();
});
