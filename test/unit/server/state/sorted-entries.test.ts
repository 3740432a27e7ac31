/** Entries in order, in many chunks: each scan gives what a filter of all gives. */
import { describe, expect, test } from 'vitest';
import type { Entry, ReadRange } from '../../../../src/server/records/read-range.ts';
import { SortedEntries } from '../../../../src/server/state/sorted-entries.ts';

const COUNT = 40;
/** Even numbers, so that there is something between them. */
const all: readonly Entry[] = Array.from({ length: COUNT }, (_, at) => ({ key: `k${at}`, value: 2 * at }));
const shuffled = all.map((_, at) => all[(at * 7) % COUNT] as Entry);

function sorted(maxChunk: number): SortedEntries {
  const entries = new SortedEntries(maxChunk);
  for (const entry of shuffled) expect(entries.add(entry)).toBe(true);
  return entries;
}

const values = (entries: Iterable<Entry>): unknown[] => [...entries].map(({ value }) => value);

describe.each([2, 5, 1000])('chunks of at most %i', (maxChunk) => {
  const entries = sorted(maxChunk);

  test.each([false, true])('every interval, reverse: %s → what lies in it, in order', (reverse) => {
    let scans = 0;
    const bounds = [undefined, -1, 0, 1, 2, 3, 30, 31, 32, 77, 78, 79, 80];
    for (const from of bounds) {
      for (const [name, to] of [...bounds].flatMap((bound) => [['before', bound] as const, ['upTo', bound] as const])) {
        const range = { table: 't', ...(from !== undefined && { from }), ...(to !== undefined && { [name]: to }) };
        const inside = all
          .map(({ value }) => value as number)
          .filter((value) => from === undefined || value >= from)
          .filter((value) => to === undefined || (name === 'before' ? value < to : value <= to));
        expect(values(entries.scan(range as ReadRange, reverse))).toEqual(reverse ? inside.toReversed() : inside);
        scans += 1;
      }
    }
    expect(scans).toBe(bounds.length ** 2 * 2);
  });

  test('added twice, or deleted twice → returns false, and nothing changes', () => {
    const some = sorted(maxChunk);
    expect([some.add(all[9] as Entry), some.size]).toEqual([false, COUNT]);
    for (const [at, entry] of shuffled.entries()) {
      expect([some.delete(entry), some.delete(entry), some.size]).toEqual([true, false, COUNT - 1 - at]);
      const left = new Set(shuffled.slice(at + 1));
      expect([...some.scan({ table: 't' })]).toEqual(all.filter((item) => left.has(item)));
    }
  });
});
