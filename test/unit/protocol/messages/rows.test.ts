/** Every inbound row is checked; a bad one is reported with the path of the bad field. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientMessageKinds } from '../../../../src/protocol/messages/client-messages.ts';
import {
  isSimpleSubmit,
  isSimpleView,
  createMessageCheck,
} from '../../../../src/protocol/messages/message-check.ts';
import { serverMessageKinds } from '../../../../src/protocol/messages/server-messages.ts';
import { compileSchema } from '../../../../src/server/gateway/context/compile-schema.ts';
import { jsonCodec } from '../../../../src/protocol/codec/json-codec.ts';
import { type Note, sharesOf, unnoted } from '../../../support/property-shares.ts';
import { scaleRuns } from '../../../support/lane.ts';

const kinds = [...clientMessageKinds, ...serverMessageKinds];
const check = createMessageCheck(kinds);
const compiled = createMessageCheck(kinds, { compile: compileSchema });

const hello = { version: 1, client: 'a'.repeat(32), attempt: 1, levels: ['weak', 'strong'] };
const welcome = {
  version: 1,
  levels: ['weak'],
  memoryId: 'm',
  limits: { maxFrameBytes: 1, maxInFlight: 1 },
};

const GOOD: readonly unknown[][] = [
  [0, 'hello', hello],
  [0, 'hello', { ...hello, token: 't', contract: { name: 'shop', hash: 'ff' } }],
  [0, 'welcome', welcome],
  [
    0,
    'welcome',
    {
      ...welcome,
      principal: 'p',
      contract: { name: 'shop', hash: 'ff', operations: { get: '0f' } },
    },
  ],
  [1, 'submit', 'get', 'read', 3, { key: 'x' }],
  [1, 'submit', 'get', 'read', 3, undefined, null, 100, 'trace'],
  [1, 'submit', 'put', 'write', 3, {}, null, null, null, null, ['ireland', 1], true],
  [1, 'view', 0, 0, undefined],
  [1, 'view', 0, 0, 'v', 7, { remaining: 1 }],
  [1, 'view', 0, 0, 'v', null, null],
  [1, 'confirm', 1, 0],
  [1, 'confirm', 1, 0, null, { remaining: 0 }],
  [1, 'fail', 'CONFLICT', 'again', null, { retryable: true, retryAfterMs: 5, field: 'args.x' }],
  [0, 'fail', 'PROTOCOL', 'x'],
  [1, 'cancel'],
  [0, 'ack'],
  [1, 'ping'],
  [1, 'pong'],
  [0, 'goaway', 5],
  [70_000, 'incoming'],
];

const BAD: readonly [row: unknown, field: string][] = [
  [null, ''],
  [{}, ''],
  [[], 'kind'],
  [[1], 'kind'],
  [[1, 'nonsense'], 'kind'],
  [[1, '__proto__'], 'kind'],
  [[0, 'submit', 'get', 'read', 1, null], 'id'],
  [[1.5, 'cancel'], 'id'],
  [['1', 'cancel'], 'id'],
  [[1, 'submit', '', 'read', 1, null], 'name'],
  [[1, 'submit', 'get', 'update', 1, null], 'access'],
  [[1, 'submit', 'get', 'read', 0, null], 'levels'],
  [[1, 'submit', 'get', 'read', 2 ** 31, null], 'levels'],
  [[1, 'submit', 'get', 'read', 1, null, 5], 'key'],
  [[1, 'submit', 'get', 'read', 1, null, 'k', -1], 'timeoutMs'],
  [[1, 'submit', 'get', 'read', 1, null, 'k', 1, null, null, null, 'yes'], 'isResend'],
  [
    [0, 'welcome', { ...welcome, contract: { name: 'shop', hash: 'ff', operations: ['get'] } }],
    'welcome.contract.operations',
  ],
  [[1, 'cancel', 1], ''],
  [[1, 'view', 'strong', 0, 'v'], 'level'],
  [[1, 'view', 0, 0, 'v', 1, 'meta'], 'meta'],
  [[1, 'fail', 'CONFLICT', 'x', null, { extra: 1 }], 'details'],
  [[0, 'hello', { ...hello, client: 'short' }], 'hello.client'],
  [[0, 'hello', { ...hello, levels: [] }], 'hello.levels'],
  [[0, 'hello', { ...hello, extra: 1 }], 'hello'],
];

/** Rows of the kinds that have a short cut, which it takes. */
const PLAIN = {
  view: [
    [1, 'view', 0, 0, undefined],
    [1, 'view', 0, 0, 'v', 7],
    [7, 'final', 30, 2, { a: 1 }, null],
    [1, 'confirm', 1, 0],
    [1, 'confirm', 1, 0, 7],
  ],
  submit: [
    [1, 'submit', 'get', 'read', 3, { key: 'x' }],
    [1, 'submit', 'put', 'write', 7, undefined, 'x'],
    [1, 'submit', 'put', 'write', 7, undefined, null, 30_000],
    [1, 'submit', 'put', 'write', 7, undefined, 'x', 1, { trace: 1 }],
  ],
} satisfies Record<string, readonly (readonly unknown[])[]>;

const SHORT_CUTS = [
  ['view', isSimpleView],
  ['submit', isSimpleSubmit],
] as const;

/** What lies at the edges of what a place of a row may hold. */
const EDGES = [
  0,
  1,
  30,
  31,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  1.5,
  -1,
  '',
  'get',
  'x'.repeat(1025),
  null,
  undefined,
];

/**
 * Rows of `kind` that are right, or have something else in one or two places, or an end too early.
 */
function nearlyRight(kind: keyof typeof PLAIN): fc.Arbitrary<readonly unknown[]> {
  const part = fc.oneof(
    fc.constantFrom<unknown>(...EDGES, 'read', 'write', 'view', 'confirm'),
    fc.anything(),
  );
  const place = fc.tuple(fc.nat(9), part);
  const changes = fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(place, { minLength: 1, maxLength: 2 }) },
  );
  const length = fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 3, max: 9 }) },
  );
  return fc
    .tuple(fc.constantFrom<readonly unknown[]>(...PLAIN[kind]), changes, length)
    .map(([row, places, end]) => {
      const changed = [...row];
      for (const [at, value] of places) changed[at % (row.length + 1)] = value;
      return changed.slice(0, end);
    });
}

const holdsTo =
  (kind: keyof typeof PLAIN, isPlain: (row: unknown) => boolean) =>
  (note: Note): fc.IRawProperty<unknown> =>
    fc.property(nearlyRight(kind), (row) => {
      const bad = check(row);
      if (!isPlain(row)) {
        if (bad) note('wrong, and refused by the short cut');
        return;
      }
      expect(bad).toBeUndefined();
      note('taken');
      if (!PLAIN[kind].some((plain) => isDeepStrictEqual(plain, row)))
        note('taken with something unusual');
    });

describe('rows', () => {
  test.each(GOOD)('%j %j → accepted', (...row) => {
    expect(check(row)).toBeUndefined();
  });

  test.each(BAD)('%j → refused, naming "%s"', (row, field) => {
    expect(check(row)?.field).toBe(field);
    expect(check(row)?.reason).not.toBe('');
  });

  test('row with an undecodable value → refused, naming the field by its name', () => {
    const [row] = jsonCodec.decode('[[9,"submit","put","update",1,{"a":{"$x":1}}]]');
    expect(check(row)).toMatchObject({ id: 9, field: 'args.a' });
  });

  test('short cuts for plain rows → they take what servers and clients send most', () => {
    for (const row of PLAIN.view) expect(isSimpleView(row)).toBe(true);
    for (const row of PLAIN.submit) expect(isSimpleSubmit(row)).toBe(true);
  });

  test.each(SHORT_CUTS)(
    'short cut for plain rows: %s → accepts nothing that the schemas refuse',
    async (...shortCut) => {
      await fc.assert(holdsTo(...shortCut)(unnoted), { numRuns: scaleRuns(5_000) });
    },
  );

  test.each(SHORT_CUTS)(
    'the rows for that: %s → most are taken, or refused for one place alone',
    async (...shortCut) => {
      const shares = await sharesOf(holdsTo(...shortCut));
      expect(shares['taken']).toBeGreaterThan(0.5);
      expect(shares['wrong, and refused by the short cut']).toBeGreaterThan(0.2);
      expect(shares['taken with something unusual']).toBeGreaterThan(0.05);
    },
  );

  test('compiled check → accepts and refuses the same as the plain one, with the same field', () => {
    const seeds = [...GOOD, ...BAD.map(([row]) => row)];
    const mutated = fc
      .tuple(fc.constantFrom(...seeds), fc.nat(9), fc.anything(), fc.boolean())
      .map(([row, index, replacement, cut]) => {
        if (!Array.isArray(row)) return replacement;
        const copy: unknown[] = [...(row as unknown[])];
        if (cut) copy.length = Math.min(index, copy.length);
        else copy[index] = replacement;
        return copy;
      });
    fc.assert(
      fc.property(fc.oneof(mutated, fc.constantFrom(...seeds)), (row) => {
        expect(compiled(row)).toEqual(check(row));
      }),
      { numRuns: scaleRuns(2_000) },
    );
  });
});
