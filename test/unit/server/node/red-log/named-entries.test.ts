/** What a sealed site has that names entries of a red log which lost its end. */
// @rule PART-G12
import { expect, test } from 'vitest';
import {
  findNamedEntries,
  mergeNamedEntries,
} from '../../../../../src/server/node/red-log/named-entries.ts';
import type { RecoveredState } from '../../../../../src/server/log/recovered-state.ts';
import type { Origin } from '../../../../../src/server/service/records/origin.ts';

const US = 1;
/** Sites have the ordinals 1 to 3, and the log of `us` comes after them. */
const LOG = 4 as Origin;

/** A vector that names this stamp of the log of `us`. */
const vector = (stamp: number): number[] => [90, 91, 92, 93, stamp];

const global = (id: string, stamp: number, read = 1): object => ({
  kind: 'operation',
  id,
  site: 1,
  epoch: 1,
  attempt: 1,
  snapshot: vector(read),
  others: [US],
  holds: [[US, stamp]],
});

interface Parts {
  readonly local?: readonly object[];
  readonly red?: readonly object[];
  readonly us?: readonly object[];
  readonly delivered?: number;
  readonly gate?: readonly object[];
  readonly lastStamp?: number;
  readonly stable?: number;
  readonly waiting?: readonly object[];
}

function find(parts: Parts): ReturnType<typeof findNamedEntries> {
  const {
    local = [],
    red = [],
    us = [],
    delivered = 0,
    gate = [],
    lastStamp = 0,
    stable = 0,
    waiting = [],
  } = parts;
  const toLog = (records: readonly object[]) => ({
    start: 0,
    entries: records.map((record) => ({ record })),
  });
  const order = (items: readonly object[], last: number) => ({
    gate: items.map((record) => ({ record, decision: {} })),
    certifier: { lastStamp: last },
  });
  const replica = { stable: vector(stable), red: order(gate, 0), reds: [order([], lastStamp)] };
  const shared = { replica, log: { delivered }, logs: [{ delivered: 0 }] };
  const checkpoint = { sections: {}, smallParts: { shared, own: { waiting: [waiting] } } };
  const state = {
    local: { start: 0, entries: local },
    red: toLog(red),
    partitions: [toLog(us)],
    checkpoint,
  };
  return findNamedEntries(state as unknown as RecoveredState, US, LOG);
}

const idsOf = ({ holds }: ReturnType<typeof find>): string[] =>
  holds.map(({ operation }) => operation.id);

test.each<[string, Parts]>([
  ['what is shown', { stable: 7 }],
  ['a blue operation', { local: [{ kind: 'blue', operation: { vector: vector(7) } }] }],
  ['a blue operation that waits', { waiting: [{ vector: vector(7) }] }],
  ['a reply', { local: [{ kind: 'slot', decision: { kind: 'record', vector: vector(7) } }] }],
  ['the snapshot of a record', { red: [{ kind: 'operation', id: 'a/1', snapshot: vector(7) }] }],
  [
    'the snapshot of a hold',
    { red: [{ kind: 'hold', id: 'a/1', operation: { snapshot: vector(7) } }] },
  ],
  ['a check', { red: [{ kind: 'check', id: 'a/1', snapshot: vector(7) }] }],
  ['a hold that a global names', { red: [global('a/1', 7)] }],
  ['the end of a hold of a global of that log', { red: [{ kind: 'release', home: US, stamp: 7 }] }],
  ['a record at the gate', { gate: [global('a/1', 7)] }],
])('%s names an entry', (_, parts) => {
  expect(find(parts).stamp).toBe(7);
});

test('nothing else names one: other entries of vectors, and other logs', () => {
  const local = [
    { kind: 'slot', decision: { kind: 'handover' } },
    { kind: 'delivered', redDelivered: 8 },
  ];
  expect(
    find({
      local,
      red: [
        { kind: 'release', home: 0, stamp: 7 },
        { kind: 'marker', id: 'a/1' },
      ],
    }),
  ).toEqual({
    stamp: 0,
    holds: [],
  });
});

test('a hold is lost if no copy has it: not one that the site has, or one before the end of its checkpoint', () => {
  const us = [{ kind: 'hold', id: 'b/1', operation: global('b/1', 0) }];
  const red = [global('applied/1', 3), global('a/1', 9), global('b/1', 8), global('c/1', 5)];
  expect(idsOf(find({ red, us, delivered: 1, lastStamp: 5, gate: [global('d/1', 10)] }))).toEqual([
    'd/1',
    'a/1',
  ]);
});

test('what several sites have: the highest stamp, and each hold once', () => {
  const [a, b] = [
    find({ red: [global('a/1', 9)] }),
    find({ red: [global('a/1', 9), global('b/1', 11)] }),
  ];
  const merged = mergeNamedEntries([a, b]);
  expect([merged.stamp, idsOf(merged)]).toEqual([11, ['a/1', 'b/1']]);
});
