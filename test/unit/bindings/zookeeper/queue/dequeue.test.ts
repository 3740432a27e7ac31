/** What a dequeue says of a queue that its server knows too little of. */
import { expect, test } from 'vitest';
import { dequeue } from '../../../../../src/operations/index.ts';
import { FakeEnsemble } from '../../../../support/zookeeper-server/ensemble.ts';
import { drain, open, QUEUE, sale, stock } from '../set-up.ts';

/** A seller whose server is behind, and somebody who puts in elsewhere. */
async function behind(): Promise<{ ensemble: FakeEnsemble; seller: ReturnType<typeof open>; other: typeof seller }> {
  const ensemble = await FakeEnsemble.start(2);
  const [late, ahead] = [ensemble.at(0), ensemble.at(1)];
  const seller = open(ensemble, { servers: late.address });
  const other = open(ensemble, { servers: ahead.address });
  await stock(other, 1);
  expect(await drain(seller)).toEqual(['T0']);
  late.fromLeader.delayMs = 50;
  return { ensemble, seller, other };
}

test('an item was put in, and the server has not heard of it → sold, not said to be none', async () => {
  const { ensemble, seller, other } = await behind();
  await using _ensemble = ensemble;
  await using _seller = seller;
  await using _other = other;
  await stock(other, 1);
  expect(await sale(seller)).toBe('T0');
  expect(await sale(seller)).toBeNull();
});

test('an item was put in, and the server has not heard of it → the guess says none, the final corrects it', async () => {
  const { ensemble, seller, other } = await behind();
  await using _ensemble = ensemble;
  await using _seller = seller;
  await using _other = other;
  await stock(other, 1);
  const views: unknown[] = [];
  for await (const { level, value } of seller.client.invoke(dequeue<string>(QUEUE))) views.push([level, value]);
  expect(views).toEqual([
    ['weak', null],
    ['strong', { item: 'T0' }],
  ]);
});
