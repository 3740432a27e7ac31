/** An incarnation that is closed: what it has, and what others would give it. */
import { expect, test } from 'vitest';
import { siteAt } from '../../../../support/origins.ts';
import type { Sites } from '../sites.ts';
import { contract, ledgerAt, one, opened } from './sale.ts';

const { close, open } = contract;

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
