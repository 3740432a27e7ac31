/**
 * Of one site: what it gives is shared once, what it asks for is what it lacks, who has gone does
 * not wait.
 */
import { expect, test } from 'vitest';
import { contract, held, ledgerAt, item, opened, pooled, service } from './sale.ts';
import { Sites } from '../../sites.ts';

test('given in the red order, then its site is started again → it does not share once more', () => {
  const sites = opened(0);
  sites.submit(0, contract.openInOrder({ seats: 30 }));
  sites.settle();
  expect(held(sites)).toEqual([10, 10, 10, 0]);
  sites.crash(0);
  sites.start(0);
  sites.pass(50);
  expect(held(sites)).toEqual([10, 10, 10, 0]);
});

test('another site has a start of the same number → it shares nothing of what it has not given', () => {
  const sites = new Sites(service, 3, { maxAttempts: 5, createEpoch: () => 1 });
  for (const seats of [30, 30]) {
    sites.submit(0, contract.openInOrder({ seats }));
    sites.settle();
  }
  expect(held(sites)).toEqual([20, 20, 20, 0]);
});

test('more is given where rights are gathered for a take → no more than it lacks comes into the pool', () => {
  const sites = opened(12);
  const taken = sites.submit(1, contract.sell({ seats: 12 }));
  // What it holds it has handed in, and the others are asked: what they give is on its way.
  sites.submit(1, contract.open({ seats: 12 }));
  sites.sync(1);
  sites.settle();
  expect(taken.value).toEqual({ sold: true });
  expect([held(sites)[3], ledgerAt(sites, 0).left]).toEqual([0, 12]);
});

test('a take that waits for rights in the red order is abandoned → at the next tick none waits any more', () => {
  const sites = opened(3);
  sites.crash(2);
  sites.submit(1, contract.sellInOrder({ seats: 3 }));
  sites.settle();
  const isBusy = (): unknown => sites.machines[1]?.rights?.isBusy;
  expect(isBusy()).toBe(true);
  sites.abandon(1);
  sites.tick();
  expect(isBusy()).toBe(false);
});

test('one draws on the pool while a larger one waits for more of it → nothing is given back before that has an answer', () => {
  const sites = pooled(12, 10);
  sites.crash(2);
  const large = sites.submit(1, contract.sell({ seats: 11 }));
  const small = sites.submit(1, item);
  sites.settle();
  expect([small.value, large, held(sites)]).toEqual([{ sold: true }, {}, [0, 0, 2, 9]]);
  sites.start(2);
  sites.pass(60);
  expect([large.value, ledgerAt(sites, 0).left]).toEqual([{ sold: true }, 0]);
});

test('most rights have come together in the pool → a site with its share of the others requests nothing', () => {
  const sites = opened(30);
  sites.submit(1, contract.sellInOrder({ seats: 15 }));
  sites.abandon(1);
  sites.settle();
  expect(held(sites)).toEqual([5, 0, 10, 15]);
  sites.submit(2, contract.sell({ seats: 7 }));
  sites.sync(2);
  expect(sites.sent.filter(({ message }) => message.kind === 'rights.request')).toEqual([]);
});
