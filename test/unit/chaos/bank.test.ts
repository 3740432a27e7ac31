/**
 * The checkers of a round of the bank refuse a history that is wrong, and accept the same one
 * without the fault.
 */
import { expect, test } from 'vitest';
import { CHECKS } from '../../chaos/check-round.ts';
import type { Overview } from '../../chaos/contract.ts';
import { RoundBuilder, UNKNOWN } from './build.ts';

const TOTAL = 20;
const OPENED = ['rich opened', 'poor opened'] as const;

/** What `look` shows if these transfers of 1 were applied. */
function bank(paid: readonly string[], received: readonly string[] = paid): Overview {
  const rich = { balance: 10 - paid.length, ids: [OPENED[0], ...paid.map((id) => `${id} out`)] };
  const poor = {
    balance: 10 + received.length,
    ids: [OPENED[1], ...received.map((id) => `${id} in`)],
  };
  return { accounts: [rich, poor], halls: [], profiles: [], values: [] };
}

function open(): RoundBuilder {
  const input = OPENED.map((id) => ({ id, amount: 10 }));
  return new RoundBuilder().bank(TOTAL).call('fund', 'all', 0, { input });
}

function listFaults(check: string, round: RoundBuilder): readonly string[] {
  return CHECKS[check]?.(round.evidence) ?? ['no such checker'];
}

const none: readonly string[] = [];
const first = { output: { out: 1, in: 1 } };
const second = { output: { out: 2, in: 2 } };

test('accepts transfers in order, a refused one, and unknown ones that are in or not', () => {
  const round = open()
    .transfer('a', 20, first)
    .transfer('b', 40, UNKNOWN)
    .transfer('c', 60, UNKNOWN)
    .transfer('d', 80, { output: false })
    .look(bank(['a']), 100)
    .settled(bank(['a', 'b']));
  expect(listFaults('bank', round)).toEqual(none);
  expect(listFaults('exactly once', round)).toEqual(none);
});

test('refuses another total, and half of a transfer', () => {
  const round = open()
    .transfer('a', 20, first)
    .look(bank(['a'], []), 40, { level: 'tentative' });
  expect(listFaults('bank', round)).toEqual([
    's at 40 ms, tentative: all accounts have 19 together instead of 20',
    's at 40 ms, tentative: has half of "a" (out)',
  ]);
});

test('refuses no accounts at strong, and accepts them at a site that has not heard of the opening', () => {
  const account = { balance: 0, ids: [] };
  const empty: Overview = { accounts: [account, account], halls: [], profiles: [], values: [] };
  expect(listFaults('bank', open().look(empty, 20, { level: 'causal' }))).toEqual(none);
  expect(listFaults('bank', open().look(empty, 20))).toEqual([
    's at 20 ms, strong: all accounts have 0 together instead of 20',
  ]);
});

test('refuses strong views that no order of transfers has', () => {
  const round = open()
    .look(bank(['a']), 20)
    .look(bank(['b', 'a']), 40);
  expect(listFaults('bank', round)).toEqual([
    's at 20 ms, strong and s at 40 ms, strong: no order of transfers has both states',
  ]);
});

test('refuses a transfer that was not committed as its function saw the accounts', () => {
  const round = open()
    .transfer('a', 20, first)
    .transfer('b', 20, first)
    .settled(bank(['a', 'b']));
  expect(listFaults('bank', round)).toEqual([
    '"b out" is not at place 1 of rich, as its function read',
    '"b in" is not at place 1 of poor, as its function read',
  ]);
});

test('refuses transfers against the order of time', () => {
  const round = open()
    .transfer('a', 20, second)
    .transfer('b', 40, first)
    .settled(bank(['b', 'a']));
  expect(listFaults('bank', round)).toEqual([
    '"a out" is listed after "b out", which began later than the other one ended',
    '"a in" is listed after "b in", which began later than the other one ended',
  ]);
});

test('refuses an unknown transfer that was applied twice', () => {
  const round = open()
    .transfer('a', 20, UNKNOWN)
    .settled(bank(['a', 'a']));
  expect(listFaults('exactly once', round)).toEqual([
    'site0 in the end: has "a out" twice',
    'site0 in the end: has "a in" twice',
  ]);
});

test('keeps a transfer unknown if it was refused when it was run again', () => {
  const round = open()
    .transfer('a', 20, UNKNOWN)
    .transfer('a', 40, { output: false })
    .settled(bank(['a']));
  expect(listFaults('exactly once', round)).toEqual(none);
});

test('refuses a committed transfer that is missing, also from a site that has lost its directory', () => {
  const round = open()
    .transfer('a', 20, { ...first, site: 'site1' })
    .lost('site1', 0, 100)
    .settled(bank([]));
  expect(listFaults('exactly once', round)).toEqual([
    'site0 in the end: "a out" is missing, acknowledged to s at 30 ms',
    'site0 in the end: "a in" is missing, acknowledged to s at 30 ms',
  ]);
});
