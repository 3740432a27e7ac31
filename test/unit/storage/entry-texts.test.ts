/** Entries of logs as text: whatever is written comes back the same. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlueOperation, LocalEntry } from '../../../src/server/redblue/records.ts';
import { entryFrom, EntryTexts } from '../../../src/server/storage/entry-texts.ts';
import { fromText } from '../../../src/server/storage/plain-text.ts';

const PLAIN = { noNullPrototype: true } as const;
const given = fc.oneof(
  fc.constantFrom(null, true, 0.5, 7n, new Date(5), new Uint8Array([1, 2])),
  fc.string({ unit: 'grapheme' }),
  fc.record({ $date: fc.string(), nested: fc.array(fc.integer()) }, PLAIN),
);
const value = fc.oneof(fc.constant(undefined), given);
const name = fc.string({ unit: 'grapheme-ascii' }).filter((text) => text !== '__proto__');
const effect = fc.record(
  { table: fc.string(), key: fc.string(), field: fc.string(), action: fc.string(), value },
  { ...PLAIN, requiredKeys: ['table', 'key', 'field', 'action'] },
);
const reply = fc.record({ value, meta: fc.dictionary(name, given, PLAIN) }, { ...PLAIN, requiredKeys: ['value'] });
const operation = fc.record(
  {
    id: fc.string(),
    site: fc.nat(9),
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
) as fc.Arbitrary<LocalEntry>;

/** The entry as it comes back, and the log that it stood in. */
function readBack(text: string): unknown[] {
  const [log, entry] = fromText(text) as [number, unknown];
  return [log, entryFrom(entry)];
}

describe('entry texts', () => {
  test.each([false, true])('any blue operation, shared: %s → the same, no part more and none less', (isShared) => {
    const texts = new EntryTexts(isShared);
    fc.assert(
      fc.property(blue, (entry) => {
        expect(readBack(texts.of('local', entry))).toStrictEqual([0, entry]);
        expect(readBack(texts.of('local', entry))).toStrictEqual([0, entry]);
      }),
    );
  });

  test('one operation in the entries of two sites → each its own entry', () => {
    const texts = new EntryTexts(true);
    const shared: BlueOperation = { id: 'c/1', site: 0, effects: [], reply: { value: null }, sequence: 1, vector: [1] };
    const [own, received] = [
      { kind: 'blue', operation: shared, redDelivered: 3 } as const,
      { kind: 'blue', operation: shared } as const,
    ];
    expect(readBack(texts.of('local', own))).toStrictEqual([0, own]);
    expect(readBack(texts.of('local', received))).toStrictEqual([0, received]);
  });

  test('other entries → as they are', () => {
    const slot: LocalEntry = { kind: 'slot', id: 'c/1', hop: 0, decision: { kind: 'handover' } };
    for (const entry of [slot, 5, 'text', { record: new Date(3) }]) {
      expect(readBack(new EntryTexts().of('red', entry))).toStrictEqual([1, entry]);
    }
  });
});
