/** The judge of queue histories finds each fault that it looks for. */
import { expect, test } from 'vitest';
import { FAULTLESS, judge, timesInWork, type QueueEvent } from '../../../engines/support/queue-history.ts';

const put = (item: string, from: number, to = from + 1): QueueEvent => ({ kind: 'enqueue', by: 'p', item, from, to });
const take = (item: string | null | undefined, from: number, to = from + 1): QueueEvent => {
  return { kind: 'dequeue', by: 'c', item, from, to };
};

test('judge: first in, first out, then empty → no fault', () => {
  const history = [put('a', 0), put('b', 2), take('a', 4), take('b', 6), take(null, 8)];
  expect(judge(history)).toEqual({ ...FAULTLESS, delivered: 2, unknown: 0 });
});

test.each([
  ['an item twice', [put('a', 0), take('a', 2), take('a', 4)], { twice: ['a'] }],
  ['an acknowledged item that nobody got', [put('a', 0), take(null, 2)], { lost: ['a'] }],
  ['an item from nowhere', [take('a', 0)], { invented: ['a'] }],
  ['the wrong way round', [put('a', 0), put('b', 2), take('b', 4), take('a', 6)], { disordered: ['b < a'] }],
  ['empty, although it was not', [put('a', 0), take(null, 2), take('a', 4)], { falseEmpties: ['c at 3: a'] }],
])('judge: %s → found', (_name, history, fault) => {
  expect(judge(history)).toMatchObject(fault);
});

test('judge: operations at the same time → any order is right', () => {
  const history = [put('a', 0, 5), put('b', 1, 4), take('b', 2, 9), take('a', 3, 8), take(null, 2, 9)];
  expect(judge(history)).toMatchObject(FAULTLESS);
});

test('judge: a dequeue that was lost with its answer → may have taken one item, not two', () => {
  expect(judge([put('a', 0), take(undefined, 2)])).toMatchObject({ lost: [], unknown: 1 });
  expect(judge([put('a', 0), put('b', 0), take(undefined, 2)]).lost).toEqual(['a', 'b']);
});

test('times in the work → those between deliveries alone', () => {
  const history = [
    put('a', 0),
    put('b', 2),
    take(null, 3),
    take('a', 5),
    take(undefined, 7),
    take('b', 9),
    take(null, 12),
  ];
  expect([1, 5, 8, 9, 20].map((at) => timesInWork(history, [at]))).toEqual([0, 0, 1, 0, 0]);
  expect(timesInWork(history, [1, 7, 8])).toBe(2);
});
