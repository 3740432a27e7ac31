/**
 * The checker of the bank's histories: each kind of fault is found, and by nothing but the history.
 */
import { describe, expect, test } from 'vitest';
import { parseHistory, type HistoryLine } from '../../../demo/bank/verify/history.ts';
import { verifyHistory, type Faults } from '../../../demo/bank/verify/verify-history.ts';

type Balances = Extract<HistoryLine, { readonly kind: 'opened' }>['balances'];
type End = 'confirmed' | 'refused' | 'unknown';

const OPENING: Balances = { Ada: 100, Ben: 100, Cleo: 100, Dan: 100 };
/** The balances after transfer `a`, and after `a` and `b`. */
const AFTER_A: Balances = { ...OPENING, Ada: 90, Ben: 110 };
const AFTER_B: Balances = { ...AFTER_A, Ben: 105, Cleo: 105 };

const A = { from: 'Ada', to: 'Ben', euros: 10 } as const;
const B = { from: 'Ben', to: 'Cleo', euros: 5 } as const;
const TRANSFERS = { a: A, b: B } as const;
type Id = keyof typeof TRANSFERS;

const opened: HistoryLine = { kind: 'opened', balances: OPENING, atMs: 0 };
const begun = (id: Id, atMs: number): HistoryLine => ({
  kind: 'begun',
  id,
  teller: 'frankfurt',
  transfer: TRANSFERS[id],
  atMs,
});
const ended = (id: Id, kind: End, atMs: number): HistoryLine => {
  if (kind === 'refused') return { kind, id, reason: 'conflict', atMs };
  return kind === 'confirmed' ? { kind, id, balances: {}, atMs } : { kind, id, atMs };
};
const read = (
  balances: Balances,
  made: Id[],
  [beganMs, atMs]: readonly [number, number],
): HistoryLine => ({
  kind: 'read',
  balances,
  made,
  beganMs,
  atMs,
});
const found = (id: Id, row: typeof A | typeof B | null = TRANSFERS[id]): HistoryLine => ({
  kind: 'found',
  id,
  row,
  atMs: 90,
});
const closed = (balances: Balances): HistoryLine => ({ kind: 'closed', balances, atMs: 91 });

/** Transfer `a`, which ends as given, and a read after it. */
const one = (end: End, row: typeof A | typeof B | null, closing: Balances): HistoryLine[] => [
  opened,
  begun('a', 10),
  ended('a', end, 20),
  found('a', row),
  closed(closing),
];

/** Transfers `a` and `b` in a row, with reads between. */
const two = (...reads: HistoryLine[]): HistoryLine[] => [
  opened,
  begun('a', 10),
  ended('a', 'confirmed', 20),
  begun('b', 40),
  ended('b', 'confirmed', 50),
  ...reads,
  found('a'),
  found('b'),
  closed(AFTER_B),
];

const NO_FAULTS: Faults = {
  lost: 0,
  refusedButMade: 0,
  altered: 0,
  repeated: 0,
  incomplete: 0,
  mixedReads: 0,
  staleReads: 0,
};

describe('no fault', () => {
  test.each([
    ['a transfer was confirmed, and has a row', one('confirmed', A, AFTER_A), { committed: 1 }],
    [
      'a transfer was refused, and has no row',
      one('refused', null, OPENING),
      { committed: 0, unknown: 0 },
    ],
    [
      'no answer, and a row',
      one('unknown', A, AFTER_A),
      { unknown: 1, unknownMade: 1, unknownNotMade: 0 },
    ],
    [
      'no answer, and no row',
      one('unknown', null, OPENING),
      { unknown: 1, unknownMade: 0, unknownNotMade: 1 },
    ],
    [
      'reads of each state',
      two(read(AFTER_A, ['a'], [25, 30]), read(AFTER_B, ['b'], [55, 60])),
      { committed: 2 },
    ],
    [
      'a transfer is made before a read and confirmed after it',
      two(read(AFTER_A, ['a'], [15, 18])),
      {},
    ],
    ['a transfer begins during a read, and is not in it', two(read(AFTER_A, ['a'], [25, 45])), {}],
    ['a transfer begins during a read, and is in it', two(read(AFTER_B, ['a'], [25, 60])), {}],
    ['two transfers begin during a read', two(read(AFTER_B, [], [5, 60])), {}],
    ['the first of two that begin during a read is in it', two(read(AFTER_A, [], [5, 60])), {}],
  ])('%s', (_, history, counts) => {
    expect(verifyHistory(history)).toMatchObject({ ...NO_FAULTS, ...counts, ok: true });
  });
});

describe('a fault', () => {
  test.each<readonly [string, HistoryLine[], Partial<Faults>]>([
    ['a transfer was confirmed, and has no row', one('confirmed', null, OPENING), { lost: 1 }],
    ['a transfer was refused, and has a row', one('refused', A, AFTER_A), { refusedButMade: 1 }],
    [
      'a transfer was made twice',
      one('confirmed', A, { ...OPENING, Ada: 80, Ben: 120 }),
      { repeated: 2 },
    ],
    ['a transfer has a row, and has moved nothing', one('confirmed', A, OPENING), { repeated: 2 }],
    [
      'another transfer was made',
      one('confirmed', B, { ...OPENING, Ben: 95, Cleo: 105 }),
      { altered: 1 },
    ],
    [
      'a transfer has no end',
      [opened, begun('a', 10), found('a', null), closed(OPENING)],
      { incomplete: 1 },
    ],
    [
      'a transfer was not looked for',
      [opened, begun('a', 10), ended('a', 'refused', 20), closed(OPENING)],
      { incomplete: 1 },
    ],
    [
      'nobody began a transfer that has a row',
      [opened, found('a', null), closed(OPENING)],
      { incomplete: 1 },
    ],
    [
      'a read has found a transfer that is gone at the end',
      [
        opened,
        begun('a', 10),
        read(AFTER_A, ['a'], [15, 18]),
        ended('a', 'unknown', 20),
        found('a', null),
        closed(OPENING),
      ],
      { lost: 1 },
    ],
    [
      'a read has found a transfer that was refused',
      [
        opened,
        begun('a', 10),
        read(AFTER_A, ['a'], [15, 18]),
        ended('a', 'refused', 20),
        found('a', null),
        closed(OPENING),
      ],
      { lost: 1, refusedButMade: 1 },
    ],
    [
      'a read lacks a transfer that was confirmed before',
      two(read(OPENING, [], [25, 30])),
      { staleReads: 1 },
    ],
    [
      'a read shows a later transfer without an earlier one of the teller',
      two(read({ ...OPENING, Ben: 95, Cleo: 105 }, [], [5, 60])),
      { mixedReads: 1 },
    ],
    [
      'a read shows a transfer that an earlier read has shown no more',
      two(read(AFTER_A, ['a'], [25, 30]), read(OPENING, [], [31, 35])),
      { mixedReads: 1 },
    ],
    [
      'a read shows the row of a transfer, and other balances',
      two(read({ ...OPENING, Ben: 90, Dan: 110 }, ['a'], [25, 30])),
      { mixedReads: 1 },
    ],
    [
      'a read shows a transfer that has no row yet',
      two(read(AFTER_A, [], [15, 18]), read(AFTER_A, ['a'], [25, 30])),
      { mixedReads: 1 },
    ],
  ])('%s', (_, history, faults) => {
    expect(verifyHistory(history)).toMatchObject({ ...NO_FAULTS, ...faults, ok: false });
  });

  test('a read shows half of a transfer → the total has changed, too', () => {
    const half = read({ ...OPENING, Ada: 90 }, ['a'], [25, 30]);
    expect(verifyHistory(two(half))).toMatchObject({
      ok: false,
      total: { before: 400, after: 400, reads: 1, changed: 1 },
    });
  });

  test('money is gone at the end → the total has changed', () => {
    const total = { before: 400, after: 390, changed: 1 };
    expect(verifyHistory(one('confirmed', A, { ...OPENING, Ada: 90 }))).toMatchObject({
      ok: false,
      total,
    });
  });
});

test('a transfer without an answer begins during a read → it may be in the read after a later one', () => {
  const history = (balances: Balances): HistoryLine[] => [
    opened,
    begun('a', 10),
    ended('a', 'unknown', 20),
    begun('b', 40),
    ended('b', 'confirmed', 50),
    read(balances, [], [5, 60]),
    found('a'),
    found('b'),
    closed(AFTER_B),
  ];
  for (const balances of [OPENING, AFTER_A, AFTER_B, { ...OPENING, Ben: 95, Cleo: 105 }]) {
    expect(verifyHistory(history(balances))).toMatchObject({ mixedReads: 0, staleReads: 0 });
  }
});

test.each(['opened', 'closed'])('no line "%s" → the error says what to do', (missing) => {
  const history = one('confirmed', A, AFTER_A).filter(({ kind }) => kind !== missing);
  expect(() => verifyHistory(history)).toThrow(
    new RegExp(
      `one line "${missing}", and has 0: .* Run demo:bank --headless --history FILE again`,
    ),
  );
});

describe('a history as text', () => {
  test('written and read again → the same lines', () => {
    const history = two(read(AFTER_A, ['a'], [25, 30]));
    expect(parseHistory(history.map((line) => `${JSON.stringify(line)}\n`).join(''))).toEqual(
      history,
    );
  });

  test.each([
    ['cut off', '{"kind":"op', 'JSON'],
    ['of another demo', '{"kind":"stocked","item":"#1","atMs":0}', 'kind'],
    ['without an account', JSON.stringify({ ...opened, balances: { Ada: 1 } }), 'Ben'],
  ])('a line is %s → its number, and what is wrong', (_, text, cause) => {
    const parse = (): unknown => parseHistory(`${JSON.stringify(opened)}\n${text}\n`);
    expect(parse).toThrow(/^line 2 is not one of a bank's history: /);
    expect(parse).toThrow(cause);
  });
});
