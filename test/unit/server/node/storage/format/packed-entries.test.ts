/** Entries of logs as bytes: whatever is written comes back the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatOperationId } from '../../../../../../src/server/site/core/operation-id.ts';
import type {
  BlueEntry,
  BlueOperation,
  LocalEntry,
} from '../../../../../../src/server/service/records/records.ts';
import {
  packEntries,
  unpackEntries,
  type LoggedEntry,
} from '../../../../../../src/server/node/storage/format/packed-entries.ts';
import { siteAt } from '../../../../../support/origins.ts';

const PLAIN = { noNullPrototype: true } as const;
const input = fc.oneof(
  fc.constantFrom(null, true, 0.5, 7n, new Date(5), new Uint8Array([1, 2])),
  fc.string({ unit: 'grapheme' }),
  fc.record({ $date: fc.string(), nested: fc.array(fc.integer()) }, PLAIN),
);
const value = fc.oneof(fc.constant(undefined), input);
const name = fc.string({ unit: 'grapheme-ascii' }).filter((text) => text !== '__proto__');
/** Often one of few, so that the same come one after the other. */
const word = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string());
const effect = fc.record(
  { table: word, key: fc.string(), field: word, action: word, value },
  { ...PLAIN, requiredKeys: ['table', 'key', 'field', 'action'] },
);
const reply = fc.record(
  { value, meta: fc.dictionary(name, input, PLAIN) },
  { ...PLAIN, requiredKeys: ['value'] },
);
const operation = fc.record(
  {
    id: fc.string(),
    site: fc.nat(8).map(siteAt),
    shadow: fc.string(),
    effects: fc.array(effect, { maxLength: 3 }),
    reply,
    sequence: fc.nat(),
    vector: fc.array(fc.maxSafeNat(), { maxLength: 4 }),
    hop: fc.nat(3),
  },
  { ...PLAIN, requiredKeys: ['id', 'site', 'effects', 'reply', 'sequence', 'vector'] },
) as fc.Arbitrary<BlueOperation>;
const blue = fc.record(
  { kind: fc.constant('blue' as const), operation, redDelivered: fc.nat() },
  { ...PLAIN, requiredKeys: ['kind', 'operation'] },
) as fc.Arbitrary<BlueEntry>;
const owner = fc.record({ client: fc.constantFrom('', 'c', 'c/d'), number: fc.maxSafeNat() });

const HEAD_BYTES = 3;

/** The entries as they come back. */
function readBack(entries: readonly LoggedEntry[], maxBytes = Infinity): LoggedEntry[] {
  const { bytes, count } = packEntries(entries, HEAD_BYTES, maxBytes);
  const back = unpackEntries(bytes.subarray(HEAD_BYTES));
  expect(back).toHaveLength(count);
  return back;
}

describe('packed entries', () => {
  test('any blue operations → the same, no part more and none less', () => {
    fc.assert(
      fc.property(fc.array(blue, { minLength: 1, maxLength: 5 }), (blues) => {
        const entries = blues.map((entry) => ({ log: 'local', entry }) as const);
        expect(readBack(entries)).toStrictEqual(entries);
        expect(readBack(entries)).toStrictEqual(entries);
      }),
    );
  });

  test('identifiers given in parts → whole, each the one it was', () => {
    const owned = fc.tuple(blue, fc.option(owner)).map(([entry, parts]) => {
      if (parts === null) return { given: entry, expected: entry };
      const expected = {
        ...entry,
        operation: { ...entry.operation, id: formatOperationId(parts.client, parts.number) },
      };
      return { given: { ...expected, ...parts }, expected };
    });
    fc.assert(
      fc.property(fc.array(owned, { minLength: 1, maxLength: 8 }), (entries) => {
        const received = entries.map((item) => ({ log: 'local', entry: item.given }) as const);
        expect(readBack(received).map(({ entry }) => entry)).toStrictEqual(
          entries.map(({ expected }) => expected),
        );
      }),
    );
  });

  test('operations of one client on one field → neither of the two is written twice', () => {
    const operations = Array.from({ length: 100 }, (_, index) => {
      const effects = [
        { table: 'accounts', key: `k${index}`, field: 'balance', action: 'add', value: 1 },
      ];
      const operation = {
        id: `client/${index}`,
        site: siteAt(0),
        effects,
        reply: { value: null },
        sequence: index,
        vector: [1],
      };
      const entry: BlueEntry = { kind: 'blue', operation, client: 'client', number: index };
      return { log: 'local', entry } as const;
    });
    const text = Buffer.from(packEntries(operations, 0, Infinity).bytes).toString('latin1');
    for (const name of ['client', 'accounts', 'balance']) expect(text.split(name)).toHaveLength(2);
  });

  test('one operation in the entries of two sites → each its own entry', () => {
    const shared: BlueOperation = {
      id: 'c/1',
      site: siteAt(0),
      effects: [],
      reply: { value: null },
      sequence: 1,
      vector: [1],
    };
    const [own, received] = [
      { kind: 'blue', operation: shared, redDelivered: 3 } as const,
      { kind: 'blue', operation: shared } as const,
    ];
    for (const entry of [own, received]) {
      expect(readBack([{ log: 'local', entry }])).toStrictEqual([{ log: 'local', entry }]);
    }
  });

  test('other entries → as they are, each of its log', () => {
    const slot: LocalEntry = { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'handover' } };
    const entries = [slot, 5, 'text', null, { record: new Date(3) }].flatMap((entry) => [
      { log: 'red', entry } as const,
      { log: 'local', entry } as const,
    ]);
    expect(readBack(entries)).toStrictEqual(entries);
  });

  test('more than the bytes asked for → the first of them, one at least', () => {
    const operation = {
      id: 'c/1',
      site: siteAt(0),
      effects: [],
      reply: { value: 'x'.repeat(100) },
      sequence: 1,
      vector: [1],
    };
    const entries = Array.from({ length: 10 }, (_, sequence) => ({
      log: 'local' as const,
      entry: { kind: 'blue' as const, operation: { ...operation, sequence } },
    }));
    expect(readBack(entries, 300)).toStrictEqual(entries.slice(0, 3));
    expect(readBack(entries, 1)).toStrictEqual(entries.slice(0, 1));
  });

  test('an entry that cannot be written → thrown, and what comes after it is written as ever', () => {
    expect(() => packEntries([{ log: 'red', entry: Number.NaN }], 0, 100)).toThrow('NaN');
    const entries = [{ log: 'red', entry: 1 } as const];
    expect(readBack(entries)).toStrictEqual(entries);
  });
});
