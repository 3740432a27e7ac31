/**
 * What the end of a round of ZooKeeper is judged by: its nodes, and what a new client made of them.
 */
import { expect, test } from 'vitest';
import type { Call } from '../../histories/history.ts';
import { checkQueue } from '../../histories/zookeeper/check-queue.ts';
import { checkKey, checkRound } from '../../histories/zookeeper/check-round.ts';
import { createPlan } from '../../histories/zookeeper/fixture.ts';
import { treeOf, type QueueTree } from '../../histories/zookeeper/tree.ts';
import { dequeued, enqueued, NOT_MADE, UNKNOWN, written } from './build.ts';

const JANITOR = createPlan(0);
const NO_JANITOR = createPlan(1);
const EMPTY: QueueTree = { items: [], claims: [], itemsEver: 0, claimsEver: 0 };
const LAST = { session: 'last' } as const;

const lengthRead = (output: number, atMs: number): Call => ({
  ...dequeued(null, atMs, LAST),
  kind: 'length',
  output,
});
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** One queue, by default one that was used and emptied in the end. */
function judged(
  calls: readonly Call[],
  before: Partial<QueueTree>,
  after: Partial<QueueTree> = {},
  plan = NO_JANITOR,
) {
  const [first, last] = [
    { ...EMPTY, ...before },
    { ...EMPTY, ...after },
  ];
  return checkQueue({ plan, key: '7/sale', name: 'sale', calls, before: first, after: last });
}

test('a tree → items without fillers, claims, and how many there ever were; values of keys', () => {
  const node = { cversion: 0, numChildren: 0, data: null };
  const tree = treeOf(
    '/r',
    [
      { ...node, path: '/r' },
      { ...node, path: '/r/keys/a', data: base64('"one"') },
      { ...node, path: '/r/queues/q' },
      { ...node, path: '/r/queues/q/i', cversion: 8, numChildren: 2 },
      { ...node, path: '/r/queues/q/i/-0000000003', data: base64('"x"') },
      { ...node, path: '/r/queues/q/i/-0000000004', data: '' },
      { ...node, path: '/r/queues/q/c', cversion: 5, numChildren: 1 },
      { ...node, path: '/r/queues/q/c/me.1-0000000002' },
    ],
    0,
  );
  expect(tree.keys).toEqual(new Map([['a', 'one']]));
  expect(tree.queues).toEqual(
    new Map([
      ['q', { items: [{ number: 3, item: 'x' }], claims: [2], itemsEver: 5, claimsEver: 3 }],
    ]),
  );
});

test('a queue whose rest was handed out as it was read → no fault', () => {
  const calls = [
    enqueued('a', 0, { number: 0 }),
    enqueued('b', 20, { number: 1 }),
    dequeued('a', 40),
    lengthRead(1, 60),
    dequeued('b', 80, LAST),
    dequeued(null, 100, LAST),
  ];
  expect(judged(calls, { items: [{ number: 1, item: 'b' }], itemsEver: 2, claimsEver: 1 })).toEqual(
    [],
  );
  expect(
    judged(calls, { items: [{ number: 0, item: 'b' }], itemsEver: 1, claimsEver: 0 }),
  ).toContain('7/sale: "b" got number 1, and is number 0');
  // A guess of an enqueue whose outcome is not known is none of its words.
  const views = [{ level: 'weak', value: undefined, atMs: 1, meta: { number: 5 } }];
  const guessed = [
    enqueued('b', 0, { ...UNKNOWN, views }),
    lengthRead(1, 60),
    dequeued('b', 80, LAST),
  ];
  expect(
    judged(guessed, { items: [{ number: 1, item: 'b' }], itemsEver: 2, claimsEver: 1 }),
  ).toEqual([]);
});

test('a rest that was not handed out, or in another order → a fault; a wrong length too', () => {
  const items = ['a', 'b'].map((item, number) => ({ item, number }));
  const puts = [enqueued('a', 0), enqueued('b', 0)];
  const tree = { items, itemsEver: 2, claimsEver: 0 };
  const remaining = [
    lengthRead(2, 20),
    dequeued('b', 40, LAST),
    dequeued('a', 60, LAST),
    dequeued(null, 80, LAST),
  ];
  expect(judged([...puts, ...remaining], tree)).toContain(
    '7/sale: of what was left, number 1 is a, and a new client was handed b',
  );
  expect(judged([...puts, lengthRead(0, 20), dequeued(null, 40, LAST)], tree)).toEqual(
    expect.arrayContaining([
      '7/sale: of what was left, number 1 is a, and a new client was handed none',
      '7/sale: its length is 2, and a new client read 0',
    ]),
  );
});

test('items that no claim takes → a fault; claims only where an outcome is not known, and no janitor was there', () => {
  const remaining = [lengthRead(0, 20)];
  expect(judged(remaining, {}, { items: [{ number: 0, item: 'a' }] })).toEqual([
    '7/sale: 1 items are left that no claim takes: a',
  ]);
  const claimed = { items: [{ number: 0, item: 'a' }], claims: [0] };
  expect(judged(remaining, {}, claimed)).toEqual(['7/sale: 1 claims are left, at most 0 may be']);
  const calls = [enqueued('a', 0), dequeued(null, 0, UNKNOWN), ...remaining];
  expect(judged(calls, {}, claimed)).toEqual([]);
  expect(judged(calls, {}, claimed, JANITOR)).toEqual([
    '7/sale: 1 claims are left, at most 0 may be',
  ]);
});

test('more nodes than operations may cost → a fault', () => {
  const remaining = [lengthRead(0, 20)];
  expect(judged(remaining, { itemsEver: 20, claimsEver: 20 })).toEqual([]);
  expect(judged(remaining, { itemsEver: 4_493, claimsEver: 4_493 })).toEqual([
    '7/sale: 4493 items and fillers were made for 0 enqueues and 0 dequeues',
  ]);
});

test('a key: acknowledged and not there in the end → a fault; only sent → none', () => {
  const put = written('v', 0);
  expect(checkKey('7/k', [put], { value: 'v', atMs: 100 })).toEqual([]);
  expect(checkKey('7/k', [put], { value: undefined, atMs: 100 })).toHaveLength(1);
  const sent = { ...put, views: [{ level: 'weak', value: undefined, atMs: 1 }] };
  expect(checkKey('7/k', [sent], { value: undefined, atMs: 100 })).toEqual([]);
});

const weakly = (value: string | undefined, atMs: number, session: string): Call => ({
  ...written('', atMs, { session, output: value, levels: ['weak'] }),
  kind: 'get',
  input: undefined,
  views: [{ level: 'weak', value, atMs: atMs + 10 }],
});
const strongly = (value: string | undefined, atMs: number, session: string): Call => ({
  ...weakly(value, atMs, session),
  levels: ['strong'],
  views: [{ level: 'strong', value, atMs: atMs + 10 }],
});

test.each<[what: string, calls: Call[], faults: number]>([
  ['its own write', [written('a', 0), written('b', 20), weakly('a', 40, 's')], 1],
  ['its own first write', [written('b', 20), weakly(undefined, 40, 's')], 1],
  [
    'what it read at strong',
    [written('a', 0), written('b', 20), strongly('b', 40, 't'), weakly('a', 60, 't')],
    1,
  ],
  ['what another wrote', [written('a', 0), written('b', 20), weakly('a', 40, 't')], 0],
  [
    'its own write, of unknown outcome',
    [written('a', 0), written('b', 20, UNKNOWN), weakly('a', 40, 's')],
    0,
  ],
  [
    'what was read outside',
    [written('b', 20), strongly('b', 40, 's, outside'), weakly(undefined, 60, 's, outside')],
    0,
  ],
])('a session that reads weakly what is older than %s → judged', (_, calls, faults) => {
  expect(checkKey('k', calls, { value: 'b', atMs: 100 })).toHaveLength(faults);
});

test('a round in which nothing succeeds → a fault', () => {
  const nothing = { keys: new Map(), queues: new Map(), atMs: 1_000 };
  const calls = [enqueued('a', 0, NOT_MADE), dequeued(null, 20, NOT_MADE)];
  const faults = checkRound({ plan: NO_JANITOR, calls, before: nothing, after: nothing });
  expect(faults).toEqual(['none of 2 calls has succeeded: the first ended with UNAVAILABLE']);
});
