/** What format 6 wrote, as it is today: each vector, entry of one and origin, wherever it stands, goes through `MOVED`. */
import { expect, test } from 'vitest';
import {
  checkpointFromBefore,
  entryFromBefore,
  MOVED,
} from '../../../../../src/server/storage/format/version-before.ts';
import type { Moved } from '../../../../../src/server/storage/format/version-before.ts';
import { savedSiteOf } from '../../../../../src/server/log/stored-site.ts';
import type { Origin } from '../../../../../src/server/records/origin.ts';

/** Marks what it is given, so that what is left out shows. */
const MARKED: Moved = {
  vector: (before) => before.map((stamp) => stamp + 1000),
  entry: (before, entryCount) => (before + 100 * entryCount) as Origin,
  origin: (before) => (before + 10) as Origin,
};

const blue = { id: 'c/1', site: 1, effects: [], reply: { value: 7 }, sequence: 1, vector: [1, 2, 3] };
const movedBlue = { ...blue, site: 11, vector: [1001, 1002, 1003] };
const red = { kind: 'operation', id: 'c/2', site: 0, snapshot: [4, 5, 6], clock: 9 };
const movedRed = { ...red, site: 10, snapshot: [1004, 1005, 1006] };

test.each([
  ['a blue operation', 'local', { kind: 'blue', operation: blue }, { kind: 'blue', operation: movedBlue }],
  [
    'a floor, whose answer is a vector',
    'local',
    { kind: 'blue', operation: { ...blue, shadow: '', reply: { value: [1, 2, 3] } } },
    { kind: 'blue', operation: { ...movedBlue, shadow: '', reply: { value: [1001, 1002, 1003] } } },
  ],
  [
    'a record that decides a slot',
    'local',
    { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'record', reply: { value: 1 }, vector: [1] } },
    { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'record', reply: { value: 1 }, vector: [1001] } },
  ],
  [
    'a claim',
    'local',
    { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'claim', site: 2, hop: 1 } },
    { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'claim', site: 12, hop: 1 } },
  ],
  ['an expiry', 'local', { kind: 'expire', client: 'c', upTo: 1 }, { kind: 'expire', client: 'c', upTo: 1 }],
  [
    'a red operation',
    'red',
    { origin: 2, epoch: 5, sequence: 1, record: red },
    { origin: 12, epoch: 5, sequence: 1, record: movedRed },
  ],
  [
    'a marker',
    'red',
    { origin: 0, epoch: 5, sequence: 1, record: { kind: 'marker', id: 'm', site: 0 } },
    { origin: 10, epoch: 5, sequence: 1, record: { kind: 'marker', id: 'm', site: 10 } },
  ],
] as const)('%s', (_, log, entry, expected) => {
  expect(entryFromBefore({ log, entry }, MARKED)).toEqual({ log, entry: expected });
});

const at = [7, 1, 2, 3] as const;
const moved = [7, 11, 302, 3] as const;
const TABLES = {
  kept: { removable: true, fields: { r: 'register', c: 'counter', l: 'log', s: 'set', q: 'queue' } },
  plain: { removable: false, fields: { c: 'counter', x: 'cell' } },
};
const rest = {
  replica: {
    synced: 5,
    stable: [1, 2, 3],
    clock: 9,
    streams: [
      { synced: 4, waiting: [] },
      { synced: 3, waiting: [blue] },
    ],
    red: { delivered: 6, gate: [{ record: red, decision: { kind: 'commit', stamp: 8 } }], certifier: { lastStamp: 8 } },
  },
  log: { delivered: 6, progress: [[1, 5, 2]] },
};

/** Nothing of the ordinals that nobody had. */
const byOrdinal = (of: Readonly<Record<number, unknown>>, none: unknown): unknown[] =>
  Array.from({ length: 12 }, (_, ordinal) => of[ordinal] ?? none);

test('sites were counted from 0 and the red entry stood last → from 1 on, and first', () => {
  expect(MOVED.vector([1, 2, 3, 9])).toEqual([9, 1, 2, 3]);
  expect([0, 1, 2, 3].map((entry) => MOVED.entry(entry, 4))).toEqual([1, 2, 3, 0]);
  expect([0, 1, 2].map((site) => MOVED.origin(site))).toEqual([1, 2, 3]);
  const entry = { kind: 'blue', operation: { ...blue, shadow: '', reply: { value: [1, 2, 3] } } };
  const today = { ...blue, site: 2, vector: [3, 1, 2], shadow: '', reply: { value: [3, 1, 2] } };
  expect(entryFromBefore({ log: 'local', entry })).toEqual({ log: 'local', entry: { kind: 'blue', operation: today } });
  const { shared, own } = savedSiteOf(checkpointFromBefore({ sections: {}, rest }, TABLES));
  expect(shared.replica).toMatchObject({ stable: [3, 1, 2], applied: [0, 4, 2] });
  expect(shared.log.progress).toEqual([[2, 5, 2]]);
  expect(own.waiting).toEqual([[], [], [{ ...blue, site: 2, vector: [3, 1, 2] }]]);
});

test('a checkpoint → in two parts, with what was moved in each of its rows', () => {
  const sections = {
    rows: new Map<string, unknown>([
      [
        'kept\u0000a',
        [
          { r: ['v', at], c: [[1, at]], l: [['line', at]], s: [['e', [at, at]]], q: { from: 0, size: 1 } },
          at,
          true,
          at,
        ],
      ],
      ['kept\u0000gone', [null, null, false, at]],
      ['plain\u0000b', [{ c: 5, x: [1, [2, 3, 4, 5]] }]],
      ['\u0000kept\u0000q\u00000\u0000a', [0, ['item']]],
    ]),
    slots: new Map([
      [
        'c/1',
        [
          0,
          [
            [0, { kind: 'record', vector: [1] }],
            [1, { kind: 'handover' }],
          ],
        ],
      ],
    ]),
    'slots.clients': new Map([['c', [0, 0, true]]]),
    commits: new Map<string, unknown>([
      ['8', [[], [], { id: 'c/2', site: 0, attempt: 1, epoch: 3 }]],
      ['7', [[], []]],
    ]),
    endings: new Map([['c/2', [0, { stamp: 8 }]]]),
  };
  const today = checkpointFromBefore({ sections, rest }, TABLES, MARKED);
  expect(Object.keys(today.sections).toSorted()).toEqual([
    'commits',
    'endings',
    'own.slots',
    'own.slots.clients',
    'rows',
  ]);
  expect(Object.fromEntries(today.sections['rows'] ?? [])).toEqual({
    'kept\u0000a': [
      { r: ['v', moved], c: [[1, moved]], l: [['line', moved]], s: [['e', [moved, moved]]], q: { from: 0, size: 1 } },
      moved,
      true,
      moved,
    ],
    'kept\u0000gone': [null, null, false, moved],
    'plain\u0000b': [{ c: 5, x: [1, [2, 3, 4, 5]] }],
    '\u0000kept\u0000q\u00000\u0000a': [0, ['item']],
  });
  const decided = [
    [0, { kind: 'record', vector: [1001] }],
    [1, { kind: 'handover' }],
  ];
  expect(today.sections['own.slots']?.get('c/1')).toEqual([0, decided]);
  expect(today.sections['commits']?.get('8')).toEqual([[], [], { id: 'c/2', site: 10, attempt: 1, epoch: 3 }]);
  expect(today.sections['commits']?.get('7')).toEqual([[], []]);
  const gate = [{ record: movedRed, decision: { kind: 'commit', stamp: 8 } }];
  expect(savedSiteOf(today)).toEqual({
    shared: {
      replica: {
        stable: [1001, 1002, 1003],
        applied: byOrdinal({ 10: 4, 11: 2 }, 0),
        red: { delivered: 6, gate, certifier: { lastStamp: 8 } },
      },
      log: { delivered: 6, position: { seq: 6, index: 0 }, progress: [[11, 5, 2]] },
    },
    own: { synced: 5, clock: 9, waiting: byOrdinal({ 11: [movedBlue] }, []) },
  });
});
