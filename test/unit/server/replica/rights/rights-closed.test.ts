/** An incarnation that is closed: what it has, and what others would give it. */
import { expect, test } from 'vitest';
import { siteAt } from '../../../../support/origins.ts';
import type { Sites } from '../sites.ts';
import { contract, ledgerAt, one, opened } from './sale.ts';

const { close, count, open, openInOrder } = contract;

function leftAndBurnt(sites: Sites): readonly number[] {
  const { left, burnt } = ledgerAt(sites, 0);
  return [left, burnt];
}

test('a closed incarnation → takes nothing by itself any more; what it held is burnt, and the rest is sold out', () => {
  const sites = opened(3);
  sites.submit(0, close({ site: siteAt(1) }));
  sites.settle();
  expect([ledgerAt(sites, 0).left, ledgerAt(sites, 0).burnt]).toEqual([2, 1]);
  const takes = [1, 1, 1].map((site) => sites.submit(site, one));
  sites.settle();
  sites.pass(60);
  const values = takes.map(({ value }) => (value as { sold: boolean } | undefined)?.sold);
  expect(values.toSorted()).toEqual([false, true, true]);
  expect([ledgerAt(sites, 2).left, ledgerAt(sites, 2).burnt]).toEqual([0, 1]);
});

test('more is given at another site → it is shared among those that are open', () => {
  const sites = opened(9);
  sites.submit(0, close({ site: siteAt(1) }));
  sites.settle();
  sites.submit(0, open({ seats: 9 }));
  sites.settle();
  expect(leftAndBurnt(sites)).toEqual([15, 3]);
  expect(ledgerAt(sites, 0).at(siteAt(2))).toBe(7);
});

test('more is given at the closed one → burnt too: it shares none of it', () => {
  const sites = opened(9);
  sites.submit(0, close({ site: siteAt(1) }));
  sites.settle();
  sites.submit(1, open({ seats: 9 }));
  sites.settle();
  expect(leftAndBurnt(sites)).toEqual([6, 12]);
});

test('what it had asked for before it was closed → comes into the pool, and is not burnt', () => {
  const sites = opened(12);
  for (const take of [one, one, one]) sites.submit(1, take);
  sites.sync(1);
  const asked = sites.sent.filter(({ message }) => message.kind === 'rights.ask');
  expect(asked).not.toEqual([]);
  sites.sent = sites.sent.filter(({ message }) => message.kind !== 'rights.ask');
  sites.submit(0, close({ site: siteAt(1) }));
  sites.settle();
  expect(leftAndBurnt(sites)).toEqual([8, 1]);
  sites.sent.push(...asked);
  sites.settle();
  expect(leftAndBurnt(sites)).toEqual([8, 1]);
  expect(ledgerAt(sites, 0).pool).toBeGreaterThan(0);
});

test.each(['after', 'while'])(
  'its site closes another one: %s that, what is left is counted in the red order → as it stands',
  (when) => {
    const sites = opened(30);
    sites.submit(0, close({ site: siteAt(1) }));
    if (when === 'after') sites.settle();
    const counted = sites.submit(0, count({}));
    sites.settle();
    expect([counted.value, leftAndBurnt(sites)]).toEqual([20, [20, 10]]);
  },
);

test('what a closed one gives in the red order is under way → who counts there what is left counts none of it', () => {
  const sites = opened(30);
  sites.submit(0, close({ site: siteAt(1) }));
  sites.settle();
  sites.submit(1, openInOrder({ seats: 5 }));
  const counted = sites.submit(1, count({}));
  sites.settle();
  expect([counted.value, leftAndBurnt(sites)]).toEqual([20, [20, 15]]);
});

test('what an open one gives in the red order is under way → who counts there what is left stands on it', () => {
  const sites = opened(30);
  const given = sites.submit(1, openInOrder({ seats: 5 }));
  const counted = sites.submit(1, count({}));
  sites.sync(1);
  expect(sites.sent.filter(({ message }) => message.kind === 'log.propose')).toHaveLength(2);
  sites.settle();
  expect([given.value, counted.value, leftAndBurnt(sites)]).toEqual([null, 35, [35, 0]]);
});
