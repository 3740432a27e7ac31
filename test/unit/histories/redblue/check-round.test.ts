/** Histories that the backend may not have, and those that look like it: each check is seen to fail. */
import { expect, test } from 'vitest';
import type { Call } from '../../../histories/history.ts';
import type { Look } from '../../../histories/redblue/contract.ts';
import { checkRound } from '../../../histories/redblue/check-round.ts';
import { call, deposited, looked, NOT_MADE, noted, shown, UNKNOWN, withdrawn } from './calls.ts';

/** The faults of a round in which all sites show the same at last. */
function faultsOf(calls: readonly Call[], last: Look = shown([])): string[] {
  return checkRound({ calls, last: new Map(['ireland', 'frankfurt'].map((site) => [site, looked(last, 9_000)])) });
}

test('writes seen by their session, by others later, paid and refused → no fault', () => {
  const calls = [
    noted('a', 0),
    looked(shown(['a']), 20, { level: 'causal' }),
    deposited('d', 5, 40),
    withdrawn('w', 3, 60),
    withdrawn('x', 3, 80, { output: false }),
    looked(shown(['a'], [5, ['d']]), 82, { session: 'other', level: 'causal' }),
    looked(shown(['a'], [2, ['d', 'w']]), 100),
  ];
  expect(faultsOf(calls, shown(['a'], [2, ['d', 'w']]))).toEqual([]);
});

test('a write that failed, as the service lets none fail → a fault', () => {
  const failed = { outcome: 'FINAL_FAILED', isRetryable: false, views: [] } as const;
  expect(faultsOf([noted('a', 0, failed)])).toEqual(['k: note of s at 0 ms failed by itself']);
});

test.each([
  ['lost', [noted('a', 0)], shown([]), ['ireland has lost "a"', 'frankfurt has lost "a"']],
  ['of unknown outcome, there or not', [noted('a', 0, UNKNOWN), noted('b', 0, UNKNOWN)], shown(['b']), []],
  ['lost, a withdrawal', [withdrawn('w', 1, 0)], shown([]), ['ireland has lost "w"', 'frankfurt has lost "w"']],
  ['refused and not there', [withdrawn('w', 1, 0, { output: false })], shown([]), []],
  ['guessed and not there', [withdrawn('w', 1, 0, { level: 'tentative' })], shown([]), []],
])('a write, %s → %#', (_, calls, last, faults) => {
  const found = faultsOf(calls, last);
  expect(found).toHaveLength(faults.length);
  for (const [n, fault] of faults.entries()) expect(found[n]).toContain(fault);
});

test.each([
  ['which no call wrote', [], ['a']],
  ['before it was written', [noted('a', 500)], ['a']],
  ['which failed as not made (UNAVAILABLE)', [noted('a', 0, NOT_MADE)], ['a']],
  ['twice', [noted('a', 0)], ['a', 'a']],
])('a view has a line %s → a fault', (fault, calls, lines) => {
  const last = calls.length === 0 ? shown([]) : shown(['a']);
  expect(faultsOf([...calls, looked(shown(lines), 100)], last).join('\n')).toContain(fault);
});

test('a withdrawal that was refused, and was made → a fault', () => {
  const calls = [
    deposited('d', 5, 0),
    withdrawn('w', 3, 20, { output: false }),
    looked(shown([], [2, ['d', 'w']]), 40),
  ];
  expect(faultsOf(calls, shown([], [5, ['d']]))).toEqual([
    's at 40 ms, strong: has "w", which failed as not made (success)',
  ]);
});

test('a balance below nothing, or that its payments do not make → a fault', () => {
  const paid = [deposited('d', 5, 0), withdrawn('w', 6, 20)];
  const last = shown([], [-1, ['d', 'w']]);
  expect(faultsOf([...paid, looked(last, 40)], last)).toEqual(['s at 40 ms, strong: account 0 stands at -1']);
  expect(faultsOf([deposited('d', 5, 0), looked(shown([], [4, ['d']]), 40)], shown([], [5, ['d']]))).toEqual([
    's at 40 ms, strong: account 0 stands at 4, and its payments add up to 5',
  ]);
});

test('a session that does not see its own write, or no more what it saw → a fault; another session → none', () => {
  const last = shown(['a']);
  const own = [noted('a', 0), looked(shown([]), 20, { level: 'causal' })];
  expect(faultsOf(own, last)).toEqual(['s at 20 ms, causal: its session had "a", and the view has not']);
  const seen = [looked(last, 20, { session: 'reader' }), looked(shown([]), 40, { session: 'reader', level: 'causal' })];
  expect(faultsOf([noted('a', 0), ...seen], last)).toEqual([
    'reader at 40 ms, causal: its session had "a", and the view has not',
  ]);
  const others = [noted('a', 0), looked(shown([]), 20, { session: 'other', level: 'causal' })];
  expect(faultsOf(others, last)).toEqual([]);
});

test('a guess is neither held against a session nor part of it', () => {
  const calls = [noted('a', 0, UNKNOWN), looked(shown(['a']), 20, { level: 'tentative' }), looked(shown([]), 40)];
  expect(faultsOf(calls)).toEqual([]);
});

test('an effect without its cause, or in its row before it → a fault', () => {
  const calls = [noted('a', 0), looked(shown(['a']), 20, { session: 't' }), noted('b', 40, { session: 't' })];
  const last = shown(['a', 'b']);
  expect(faultsOf([...calls, looked(shown(['b']), 60, { session: 'u', level: 'causal' })], last)).toEqual([
    'u at 60 ms, causal: has "b" without its cause "a"',
  ]);
  expect(faultsOf([...calls, looked(shown(['b', 'a']), 60, { session: 'u' })], last)).toEqual([
    'u at 60 ms, strong: "b" stands before its cause "a"',
  ]);
});

test('a strong view without a red write that was acknowledged → a fault; without a blue one, or causal → none', () => {
  const calls = [deposited('d', 5, 0), withdrawn('w', 1, 20)];
  const last = shown([], [4, ['d', 'w']]);
  const without = shown([], [5, ['d']]);
  expect(faultsOf([...calls, looked(without, 40, { session: 'u' })], last)).toEqual([
    'u at 40 ms: the strong view lacks "w"',
  ]);
  expect(faultsOf([...calls, looked(without, 40, { session: 'u', level: 'causal' })], last)).toEqual([]);
  expect(faultsOf([deposited('d', 5, 0), looked(shown([]), 40, { session: 'u' })], shown([], [5, ['d']]))).toEqual([]);
});

test('no doctor on duty after one was → a fault', () => {
  const withoutDoctor = { ...shown([]), onDuty: [] };
  expect(faultsOf([looked(shown([]), 0), looked(withoutDoctor, 20)])).toEqual(['s at 20 ms: no doctor is on duty']);
  expect(faultsOf([looked(withoutDoctor, 0), looked(shown([]), 20)])).toEqual([]);
  expect(faultsOf([call('join', 0, { input: 'ann', output: null })], withoutDoctor)).toEqual([
    'ireland: no doctor is on duty at last',
    'frankfurt: no doctor is on duty at last',
  ]);
});

test('sites that differ at last, or cannot be read → a fault', () => {
  const calls = [noted('a', 0, UNKNOWN)];
  const [some, none] = [looked(shown(['a']), 900), looked(shown([]), 900)];
  expect(
    checkRound({
      calls,
      last: new Map([
        ['ireland', some],
        ['frankfurt', none],
      ]),
    })[0],
  ).toContain('sites differ at last');
  const mute = { ...none, outcome: 'UNAVAILABLE' };
  expect(checkRound({ calls: [], last: new Map([['ireland', mute]]) })).toEqual([
    'ireland cannot be read at last: UNAVAILABLE',
  ]);
});

test('held by two at once → a fault; by one who may have it still → none', () => {
  const claimed = (by: string, atMs: number, output: boolean, details = {}): Call =>
    call('claim', atMs, { input: by, output, ...details });
  const released = (by: string, atMs: number): Call => call('release', atMs, { input: by, output: true });
  expect(faultsOf([claimed('a', 0, true), claimed('b', 20, true), released('a', 40)])).toEqual([
    'k: a and b held it at 30 ms',
  ]);
  expect(faultsOf([claimed('a', 0, true), released('a', 20), claimed('b', 40, true)])).toEqual([]);
  expect(faultsOf([claimed('a', 0, true, UNKNOWN), claimed('b', 40, true)])).toEqual([]);
});

test('a claim fails although no claim held it → a fault; if another may have held it → none', () => {
  const reported = (by: string, atMs: number, output: boolean, details = {}): Call =>
    call('claim', atMs, { input: by, output, ...details });
  const released = call('release', 20, { input: 'a', output: true });
  expect(faultsOf([reported('a', 0, true), released, reported('b', 60, false)])).toEqual([
    'k: b failed at 70 ms to claim it, and no claim held it',
  ]);
  expect(faultsOf([reported('a', 0, true), released, reported('b', 25, false)])).toEqual([]);
  expect(faultsOf([reported('a', 0, true, UNKNOWN), reported('b', 60, false)])).toEqual([]);
  expect(faultsOf([reported('a', 0, true), released, reported('b', 60, false, { level: 'causal' })])).toEqual([]);
});

test('a key that goes back, or a call without an outcome → a fault', () => {
  const put = (value: string, atMs: number): Call => call('put', atMs, { input: value, output: null });
  const read = (value: string, atMs: number): Call => call('get', atMs, { output: value });
  expect(faultsOf([put('v', 0), put('w', 20), read('v', 40)])).toEqual([
    expect.stringContaining('both have been there'),
  ]);
  expect(faultsOf([put('v', 0), put('w', 20), read('w', 40)])).toEqual([]);
  const { session, kind, key, beginMs } = noted('a', 0);
  expect(faultsOf([{ session, kind, key, beginMs }])).toEqual(['k: note of s at 0 ms was never answered']);
});
