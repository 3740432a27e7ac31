/**
 * Scans show what a plain list would: any range of sorted entries, and what begins with any text.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, ReadRange } from '../../src/server/service/records/read-range.ts';
import {
  compareEntries,
  isInRange,
  toReadRange,
} from '../../src/server/service/records/read-range.ts';
import { SortedEntries } from '../../src/server/service/state/sorted-entries.ts';
import { onceEach, sharesOf, testShares, unnoted, type Note } from '../support/property-shares.ts';
import { scaleRuns } from '../support/lane.ts';

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
  .map((options) => toReadRange('t', undefined, options));

const entryArbitrary = fc.record({
  value: fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\uffff'), maxLength: 3 }),
    fc.nat(3),
  ),
  key: fc.constantFrom('k', 'l'),
});

/** A chunk has so many entries here, so that few entries are in several. */
const CHUNK_MAX = 3;
/** Of so many neighbors some chunk has no others, wherever it begins. */
const EMPTIED_MIN = 2 * CHUNK_MAX - 1;

const stepArbitrary = fc.oneof(
  { weight: 24, arbitrary: fc.record({ add: entryArbitrary }) },
  { weight: 6, arbitrary: fc.record({ remove: entryArbitrary }) },
  { weight: 1, arbitrary: fc.record({ clear: rangeArbitrary }) },
  { weight: 1, arbitrary: fc.record({ scan: rangeArbitrary, reverse: fc.boolean() }) },
);

const ALL: ReadRange = { table: 't' };

/** Sorted entries in the plainest way. */
class PlainEntries {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  get first(): Entry | undefined {
    return this.scan(ALL)[0];
  }

  get last(): Entry | undefined {
    return this.scan(ALL).at(-1);
  }

  add(entry: Entry): boolean {
    const { size } = this.#entries;
    return this.#entries.set(JSON.stringify(entry), entry).size > size;
  }

  delete(entry: Entry): boolean {
    return this.#entries.delete(JSON.stringify(entry));
  }

  scan(range: ReadRange): Entry[] {
    return [...this.#entries.values()]
      .filter(({ value }) => isInRange(range, value))
      .toSorted(compareEntries);
  }
}

const scanned = (note: Note): fc.IRawProperty<unknown> =>
  fc.property(
    fc.array(stepArbitrary, { minLength: 30, maxLength: 90, size: 'max' }),
    rangeArbitrary,
    fc.boolean(),
    (steps, range, reverse) => {
      const once = onceEach(note);
      const sorted = new SortedEntries(CHUNK_MAX);
      const plain = new PlainEntries();
      for (const item of [...steps, { scan: range, reverse }, { scan: ALL, reverse }]) {
        if ('add' in item) {
          const isNew = plain.add(item.add);
          expect(sorted.add(item.add)).toBe(isNew);
          if (!isNew) once('added twice');
        } else if ('remove' in item) {
          const isThere = plain.delete(item.remove);
          expect(sorted.delete(item.remove)).toBe(isThere);
          if (isThere) once('deleted');
        } else if ('scan' in item) {
          const expected = plain.scan(item.scan);
          expect([...sorted.scan(item.scan, item.reverse)]).toEqual(
            item.reverse ? expected.toReversed() : expected,
          );
          if (plain.size > CHUNK_MAX) once('several chunks');
          if (expected.length > 1) once('several in the range');
          if (expected.length > 0 && expected.length < plain.size)
            once('some in the range, others not');
          if (item.reverse && expected.length > CHUNK_MAX && plain.last !== expected.at(-1))
            once('several chunks, backwards from within');
        } else {
          const gone = plain.scan(item.clear);
          const { first } = plain;
          for (const entry of gone) expect(sorted.delete(entry)).toBe(plain.delete(entry));
          if (gone.length >= EMPTIED_MIN && plain.size > 0)
            once(plain.first === first ? 'a later chunk is emptied' : 'the first chunk is emptied');
        }
        expect(sorted.size).toBe(plain.size);
      }
    },
  );

const prefixed = (note: Note): fc.IRawProperty<unknown> => {
  const unit = fc.constantFrom(
    'a',
    'b',
    '\ud7ff',
    '😀',
    '🟿',
    '\u{10ffff}',
    '\ue000',
    '\ufffe',
    '\uffff',
  );
  const text = fc.string({ unit, maxLength: 4 });
  return fc.property(text, text, (prefix, remaining) => {
    const range = toReadRange('t', undefined, { prefix });
    expect(String(range.before)).not.toMatch(/\p{Surrogate}/u);
    for (const key of [remaining, prefix + remaining])
      expect(isInRange(range, key)).toBe(key.startsWith(prefix));
    if (prefix !== '' && !remaining.startsWith(prefix))
      note(remaining < prefix ? 'before what begins with it' : 'behind it');
  });
};

describe('scans', () => {
  test('sorted entries: added and deleted at random → any range as a sorted list gives it', async () => {
    await fc.assert(scanned(unnoted), { numRuns: scaleRuns(300) });
  });

  testShares('sorted entries: the ranges → mostly part of what there is', async () => {
    const shares = await sharesOf(scanned, 200);
    for (const description of [
      'added twice',
      'deleted',
      'several chunks',
      'several in the range',
      'some in the range, others not',
    ]) {
      expect(shares[description], description).toBeGreaterThan(0.5);
    }
    for (const subject of [
      'the first chunk is emptied',
      'a later chunk is emptied',
      'several chunks, backwards from within',
    ]) {
      expect(shares[subject], subject).toBeGreaterThan(0.1);
    }
  });

  test('prefix: any characters → exactly what begins with it, between bounds of whole characters', async () => {
    await fc.assert(prefixed(unnoted), { numRuns: scaleRuns(2000) });
  });

  testShares(
    'prefix: the texts → most do not begin with it, many next to where it ends',
    async () => {
      const shares = await sharesOf(prefixed);
      for (const description of ['before what begins with it', 'behind it']) {
        expect(shares[description], description).toBeGreaterThan(0.2);
      }
    },
  );

  test('sorted entries: thousands, over many chunks → in order from both ends', () => {
    const sorted = new SortedEntries();
    const keys = Array.from({ length: 5000 }, (_, index) =>
      String((index * 7919) % 5000).padStart(5, '0'),
    );
    for (const key of keys) sorted.add({ value: key, key });
    const inOrder = keys.toSorted();
    expect([...sorted.scan({ table: 't' })].map(({ key }) => key)).toEqual(inOrder);
    expect([...sorted.scan({ table: 't' }, true)].map(({ key }) => key)).toEqual(
      inOrder.toReversed(),
    );
    for (const key of keys) if (Number(key) % 2 === 0) sorted.delete({ value: key, key });
    const odd = inOrder.filter((key) => Number(key) % 2 === 1);
    expect([...sorted.scan({ table: 't', from: '02500' })].map(({ key }) => key)).toEqual(
      odd.filter((k) => k >= '02500'),
    );
  });
});
