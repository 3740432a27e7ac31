/** Values that another program wrote, which the codec cannot decode. */
import { expect, test } from 'vitest';
import { ZooKeeper } from '../../../../src/bindings/zookeeper/index.ts';
import { dequeue, enqueue, get, peek, put } from '../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../support/zookeeper-server/ensemble.ts';
import { ITEMS, open, outcomeOf, QUEUE } from './set-up.ts';

test('get names the key, other keys are read, and put repairs it', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await shop.client.invoke(put('good', 1));
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create('/correctables/keys/bad', 'no JSON');
  await expect(shop.client.invoke(get('bad'))).rejects.toMatchObject({
    code: 'INVALID_VALUE',
    key: 'bad',
    message: expect.stringMatching(
      /get: the value of the key "bad" cannot be read: .*Nothing was changed/,
    ) as string,
  });
  expect(await shop.client.invoke(get('good'))).toBe(1);
  await shop.client.invoke(put('bad', 2));
  expect(await shop.client.invoke(get('bad'))).toBe(2);
});

test('peek names the item, and dequeue does not lose it without a word', async () => {
  await using ensemble = await FakeEnsemble.start();
  await using shop = open(ensemble);
  await shop.client.invoke(enqueue(QUEUE, 'first'));
  await shop.client.invoke(dequeue(QUEUE));
  await using zk = new ZooKeeper(ensemble.connectString);
  await zk.create(`${ITEMS}/-`, 'no JSON', { mode: 'persistent-sequential' });
  await expect(shop.client.invoke(peek(QUEUE))).rejects.toMatchObject({
    code: 'INVALID_VALUE',
    message: expect.stringMatching(/peek: item 1 of .*concert cannot be read/) as string,
  });
  expect(await outcomeOf(shop.client.invoke(dequeue(QUEUE)))).toBe('UNKNOWN');
  await shop.client.invoke(enqueue(QUEUE, 'next'));
  expect(await shop.client.invoke(dequeue(QUEUE))).toEqual({ item: 'next' });
});
