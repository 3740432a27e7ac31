/** Scans show what a plain list would: any range of sorted entries, and what begins with any text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, ReadRange } from '../../src/server/records/key-range.ts';
import { compareEntries, isWithin, rangeOf } from '../../src/server/records/key-range.ts';
import { SortedEntries } from '../../src/server/state/sorted-entries.ts';
import { onceEach, sharesOf, unnoted, type Note } from '../support/shares.ts';

const BOUNDS = {
  from: fc.constantFrom('', 'a', 'b', 'bb', 'c'),
  before: fc.constantFrom('a', 'b', 'bc', 'd'),
  prefix: fc.constantFrom('', 'a', 'b', 'ab', '\uffff'),
  equals: fc.constantFrom('a', 'b'),
};
/** One bound, from and before, or any of them together, which mostly leave nothing between them. */
const rangeArbitrary: fc.Arbitrary<ReadRange> = fc
  .oneof(
    fc.record({ from: BOUNDS.from }),
    fc.record({ before: BOUNDS.before }),
    fc.record({ prefix: BOUNDS.prefix }),
    fc.record({ equals: BOUNDS.equals }),
    fc.record({ from: fc.constantFrom('', 'a'), before: fc.constantFrom('b', 'bc', 'd') }),
    fc.record(BOUNDS, { requiredKeys: [] }),
  )
  .map((options) => rangeOf('t', undefined, options));

const entryArbitrary = fc.record({
  value: fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\uffff'), maxLength: 3 }), fc.nat(3)),
  key: fc.constantFrom('k', 'l'),
});

const isAddedArbitrary = fc.constantFrom(true, true, true, false);

const scanned = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(fc.tuple(isAddedArbitrary, entryArbitrary), { minLength: 10, maxLength: 60, size: 'max' }),
    rangeArbitrary,
    fc.boolean(),
    (changes, range, reverse) => {
      const once = onceEach(note);
      const sorted = new SortedEntries();
      const plain = new Map<string, Entry>();
      for (const [isAdded, entry] of changes) {
        const name = JSON.stringify(entry);
        const isThere = plain.has(name);
        expect(isAdded ? sorted.add(entry) : sorted.delete(entry)).toBe(isAdded !== isThere);
        if (isThere) once(isAdded ? 'added twice' : 'deleted');
        if (isAdded) plain.set(name, entry);
        else plain.delete(name);
      }
      const expected = [...plain.values()].filter(({ value }) => isWithin(range, value)).toSorted(compareEntries);
      expect([...sorted.scan(range, reverse)]).toEqual(reverse ? expected.toReversed() : expected);
      expect(sorted.size).toBe(plain.size);
      if (expected.length > 1) once('several in the range');
      if (expected.length > 0 && expected.length < plain.size) once('some in the range, others not');
    },
  );

const prefixed = (note: Note): fc.IRawProperty<unknown> => {
  const unit = fc.constantFrom('a', 'b', '\ud7ff', '😀', '🟿', '\u{10ffff}', '\ue000', '\ufffe', '\uffff');
  const text = fc.string({ unit, maxLength: 4 });
  return fc.property(text, text, (prefix, rest) => {
    const range = rangeOf('t', undefined, { prefix });
    expect(String(range.before)).not.toMatch(/\p{Surrogate}/u);
    for (const key of [rest, prefix + rest]) expect(isWithin(range, key)).toBe(key.startsWith(prefix));
    if (prefix !== '' && !rest.startsWith(prefix)) note(rest < prefix ? 'before what begins with it' : 'behind it');
  });
};

describe('scans', () => {
  test('sorted entries: added and deleted at random → any range as a sorted list gives it', async () => {
    await fc.assert(scanned(unnoted), { numRuns: 500 });
  });

  test('sorted entries: the ranges → mostly part of what there is', async () => {
    const shares = await sharesOf(scanned);
    for (const what of ['added twice', 'deleted', 'several in the range', 'some in the range, others not']) {
      expect(shares[what], what).toBeGreaterThan(0.5);
    }
  });

  test('prefix: any characters → exactly what begins with it, between bounds of whole characters', async () => {
    await fc.assert(prefixed(unnoted), { numRuns: 2000 });
  });

  test('prefix: the texts → most do not begin with it, many next to where it ends', async () => {
    const shares = await sharesOf(prefixed);
    for (const what of ['before what begins with it', 'behind it']) {
      expect(shares[what], what).toBeGreaterThan(0.2);
    }
  });

  test('sorted entries: thousands, over many chunks → in order from both ends', () => {
    const sorted = new SortedEntries();
    const keys = Array.from({ length: 5000 }, (_, index) => String((index * 7919) % 5000).padStart(5, '0'));
    for (const key of keys) sorted.add({ value: key, key });
    const inOrder = keys.toSorted();
    expect([...sorted.scan({ table: 't' })].map(({ key }) => key)).toEqual(inOrder);
    expect([...sorted.scan({ table: 't' }, true)].map(({ key }) => key)).toEqual(inOrder.toReversed());
    for (const key of keys) if (Number(key) % 2 === 0) sorted.delete({ value: key, key });
    const odd = inOrder.filter((key) => Number(key) % 2 === 1);
    expect([...sorted.scan({ table: 't', from: '02500' })].map(({ key }) => key)).toEqual(
      odd.filter((k) => k >= '02500'),
    );
  });
});
