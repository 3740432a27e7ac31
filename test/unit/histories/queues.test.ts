/** Histories that no queue can have, and those that look like it: each check is seen to fail. */
import { expect, test } from 'vitest';
import { queueFaults } from '../../histories/checks/queues.ts';
import type { Call } from '../../histories/history.ts';
import { deleted, dequeued, enqueued, guessed, NOT_MADE, UNKNOWN } from './build.ts';

const faultsOf = (...calls: Call[]): string[] => queueFaults({ name: 'q', calls, isOrdered: true });

/** A call that is still under way. */
function unended({ session, kind, key, beginMs }: Call): Call {
  return { session, kind, key, beginMs };
}

test('a queue: in order, each item once, empty in the end → no fault', () => {
  const calls = [enqueued('a', 0, { number: 0 }), enqueued('b', 20, { number: 1 })];
  expect(faultsOf(...calls, dequeued('a', 40), dequeued('b', 60), dequeued(null, 80))).toEqual([]);
});

test('an item handed out twice → a fault, unless the first who had it was to give it back', () => {
  const calls = [enqueued('a', 0), dequeued('a', 20, { session: 'dead' }), dequeued('a', 40)];
  expect(faultsOf(...calls)).toEqual([
    'q: "a" was handed out twice: to dead at 30 ms and to s at 50 ms',
  ]);
  const comesBack = (session: string): boolean => session === 'dead';
  expect(queueFaults({ name: 'q', calls, isOrdered: false, comesBack })).toEqual([]);
});

test('an item that no enqueue added, or not yet → a fault', () => {
  expect(faultsOf(dequeued('a', 0))).toEqual([
    'q: "a" was handed to s at 10 ms, and no enqueue added it',
  ]);
  expect(faultsOf(dequeued('a', 0), enqueued('a', 50))).toEqual([
    'q: "a" was handed to s at 10 ms, before it was put in',
  ]);
});

test('the item of an enqueue that failed as not made comes out, also later → a fault; of unknown outcome → none', () => {
  expect(faultsOf(enqueued('a', 0, NOT_MADE), dequeued('a', 900))).toEqual([
    'q: "a" was handed to s at 910 ms, though its enqueue failed as not made (UNAVAILABLE)',
  ]);
  expect(faultsOf(enqueued('a', 0, UNKNOWN), dequeued('a', 900))).toEqual([]);
});

test('an acknowledged item that no dequeue got → a fault; as many as dequeues of unknown outcome → none', () => {
  const lost = 'q: "a" is lost: put in by s at 10 ms, handed to no session';
  expect(faultsOf(enqueued('a', 0), dequeued(null, 20))).toEqual([lost]);
  expect(faultsOf(enqueued('a', 0), dequeued(null, 20, NOT_MADE))).toEqual([lost]);
  expect(faultsOf(enqueued('a', 0), dequeued(null, 20, UNKNOWN))).toEqual([]);
  expect(faultsOf(enqueued('a', 0), unended(dequeued(null, 20)))).toEqual([]);
  expect(faultsOf(enqueued('a', 0), enqueued('b', 0), dequeued(null, 20, UNKNOWN))).toHaveLength(2);
  expect(faultsOf(enqueued('a', 0, UNKNOWN), dequeued(null, 20))).toEqual([]);
});

test('items that come back at the end → not excused by dequeues of unknown outcome', () => {
  const calls = [enqueued('a', 0), dequeued(null, 20, { session: 'dead', ...UNKNOWN })];
  const comesBack = (session: string): boolean => session === 'dead';
  expect(queueFaults({ name: 'q', calls, isOrdered: false, comesBack })).toHaveLength(1);
});

test('a preliminary view → no item is handed out: it may be wrong, and stands for one item that a dequeue took', () => {
  expect(
    faultsOf(enqueued('a', 0), enqueued('b', 20), guessed('b', 40), dequeued('b', 60)),
  ).toEqual([]);
  expect(faultsOf(enqueued('a', 0), guessed(null, 20))).toHaveLength(1);
});

test('order: the second of one session, or of two enqueues one after the other, comes first → a fault', () => {
  const behind = [enqueued('a', 0), enqueued('b', 0)];
  const taken = [dequeued('b', 40), dequeued('a', 60)];
  expect(faultsOf(...behind, ...taken)).toEqual(['q: "b" came out before "a": s at 50 ms']);
  expect(faultsOf(enqueued('a', 0, { session: 'r' }), enqueued('b', 20), ...taken)).toHaveLength(1);
  // At the same time, or taken at the same time: either order will do.
  expect(faultsOf(enqueued('a', 0, { session: 'r' }), enqueued('b', 0), ...taken)).toEqual([]);
  expect(faultsOf(...behind, dequeued('b', 40), dequeued('a', 45))).toEqual([]);
  expect(queueFaults({ name: 'q', calls: [...behind, ...taken], isOrdered: false })).toEqual([]);
});

test('a dequeue gets nothing while an item is there all the time → a fault', () => {
  expect(faultsOf(enqueued('a', 0), dequeued(null, 20), dequeued('a', 40))).toEqual([
    'q: s at 30 ms got nothing, and "a" was left',
  ]);
  expect(faultsOf(enqueued('a', 0), dequeued(null, 5), dequeued('a', 40))).toEqual([]);
  expect(faultsOf(enqueued('a', 0), dequeued(null, 20), dequeued('a', 25))).toEqual([]);
});

test('numbers: one returned twice, or one of a session that goes back → a fault', () => {
  const taken = [dequeued('a', 40), dequeued('b', 60)];
  expect(
    faultsOf(enqueued('a', 0, { number: 3 }), enqueued('b', 20, { number: 3 }), ...taken),
  ).toEqual(['q: "a" and "b" both got number 3, the second one by s at 30 ms']);
  expect(
    faultsOf(enqueued('a', 0, { number: 3 }), enqueued('b', 20, { number: 2 }), ...taken),
  ).toEqual(['q: "b" got number 2, "a" before it 3: s at 30 ms']);
});

test('a deleted queue → takes its items along, and none comes out later; numbers start again', () => {
  const calls = [enqueued('a', 0, { number: 0 }), deleted(20)];
  expect(faultsOf(...calls, enqueued('b', 40, { number: 0 }), dequeued('b', 60))).toEqual([]);
  expect(faultsOf(...calls, dequeued('a', 60))).toEqual([
    'q: "a" was handed to s at 70 ms, after the queue that had it was deleted',
  ]);
  expect(faultsOf(...calls, enqueued('b', 40), dequeued(null, 60))).toHaveLength(1);
  // The first was in flight for long: its number may be one of the queue that was created again.
  const slow = enqueued('a', 0, { number: 5, endMs: 90 });
  expect(faultsOf(slow, enqueued('b', 10, { number: 5 }), deleted(40), dequeued('a', 100))).toEqual(
    [],
  );
  // The second one arrived when the queue had just been created again, the first one had to be sent
  // again.
  const again = [
    deleted(0),
    enqueued('a', 20, { number: 1, endMs: 90 }),
    enqueued('b', 20, { number: 0, endMs: 40 }),
  ];
  expect(faultsOf(...again, dequeued('b', 100), dequeued('a', 120))).toEqual([]);
});

test.each([
  ['out of order', [enqueued('A', 0), enqueued('B', 20), dequeued('B', 40), dequeued('A', 60)]],
  ['a false empty', [enqueued('A', 0), dequeued(null, 40), dequeued('A', 80)]],
])(
  '%s, with a dequeue of unknown outcome → excused only if that dequeue had begun before',
  (_, calls) => {
    const faults = (unknownAtMs: number): string[] =>
      queueFaults({
        name: 'q',
        isOrdered: true,
        calls: [...calls, dequeued(null, unknownAtMs, UNKNOWN)],
      });
    expect(faults(30)).toEqual([]);
    expect(faults(100)).toHaveLength(1);
  },
);
